// Record a version of a run and make it the one that readers go by, in the transaction that decides whether it counts.
//
// parameters:
//   $run                string         the run
//   $replaces           integer        the version that readers went by until now
//   $version            integer        the new one
//   $pcneo              string         the pcneo that wrote it
//   $revision           integer        of the search; raised whenever any answer can change
//   $effort             integer        of the search
//   $added              integer        hubs that it added
//   $retired            integer        hubs that it retired
//   $cohesions          integer        hubs that it has
//   $memberships        integer        their members
//   $nodeCount          integer        the count store's nodes when the graph was read
//   $relationshipCount  integer        the count store's relationships at that time
//   $vertices           integer        vertices read
//   $edges              integer        edges read
//   $fingerprint        string|null    keyed hash of keys and edges; null for single vertices
//   $membershipHash     string|null    hash of the memberships; null for single vertices
//   $fromFiles          boolean        whether its hubs came from files rather than a search
//   $startedAt          datetime|null  when its writer began
// returns:
//   created  integer  1, or 0 where readers went by another version than the one replaced
// repeatable: the second time, the run has another version, and nothing is done.
MATCH (run:PCohesionRun {id: $run, version: $replaces})
SET run.version = $version
CREATE (:PCohesionVersion {
  run: $run, version: $version, readable: true, pcneo: $pcneo, revision: $revision, effort: $effort, added: $added,
  retired: $retired, cohesions: $cohesions, memberships: $memberships, nodeCount: $nodeCount, relationshipCount: $relationshipCount,
  vertices: $vertices, edges: $edges, fingerprint: $fingerprint, membershipHash: $membershipHash, fromFiles: $fromFiles,
  startedAt: $startedAt, finishedAt: datetime()
})
WITH run
OPTIONAL MATCH (old:PCohesionVersion {run: $run, version: $replaces})
SET old.replacedAt = datetime()
RETURN count(run) AS created
