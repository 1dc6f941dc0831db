// Every standing run of the database at the version that readers go by, in the order of their ids.
//
// What belongs to the version is null where its record is missing, or not there yet: the server shows a commit piece by
// piece, and the new number on the run before the record can be found by it.
//
// returns:
//   id                 string         the run
//   graph              string         name of its graph
//   scope              string         graph, vertices or answers
//   pText              string         p as a canonical fraction a/b
//   search             string|null    name of the search; null in a run of an earlier format
//   format             integer|null   of the data model under which its graph was last written
//   current            integer        the version that readers go by
//   version            integer|null   the same, where it has a record
//   readable           boolean|null   true
//   pcneo              string|null    the pcneo that wrote it
//   revision           integer|null   of the search; raised where any answer can change
//   effort             integer|null   of the search
//   added              integer|null   hubs that came with the version
//   retired            integer|null   hubs that went with it
//   cohesions          integer|null   hubs that it has
//   memberships        integer|null   their members
//   nodeCount          integer|null   the count store's figure when the graph was read
//   relationshipCount  integer|null   the same for relationships
//   vertices           integer|null   vertices read
//   edges              integer|null   edges read
//   fingerprint        string|null    keyed hash of keys and edges
//   membershipHash     string|null    hash of the memberships
//   fromFiles          boolean        whether hubs of it came from files instead of a search
//   startedAt          datetime|null  server time
//   finishedAt         datetime|null  server time
//   replacedAt         datetime|null  null
MATCH (run:PCohesionRun)
WHERE run.id IS NOT NULL AND (coalesce(run.version <> 0, true) OR run.search IS NULL)
OPTIONAL MATCH (graph:PCohesionGraph {name: run.graph})
OPTIONAL MATCH (version:PCohesionVersion {run: run.id, version: run.version})
RETURN run.id AS id, run.graph AS graph, run.scope AS scope, run.pText AS pText, run.search AS search,
       graph.format AS format, run.version AS current,
       version.version AS version, version.readable AS readable, version.pcneo AS pcneo, version.revision AS revision,
       version.effort AS effort,
       version.added AS added, version.retired AS retired, version.cohesions AS cohesions,
       version.memberships AS memberships, version.nodeCount AS nodeCount,
       version.relationshipCount AS relationshipCount, version.vertices AS vertices, version.edges AS edges,
       version.fingerprint AS fingerprint, version.membershipHash AS membershipHash,
       coalesce(version.fromFiles, false) AS fromFiles, version.startedAt AS startedAt,
       version.finishedAt AS finishedAt, version.replacedAt AS replacedAt
ORDER BY id
