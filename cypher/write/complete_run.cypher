// Make a run visible, and the runs it replaces invisible, in the transaction that holds the graph's lock.
//
// parameters:
//   $run                string       the run
//   $graph              string       name of its graph
//   $replaced           list<string>  runs that it replaces
//   $nodeCount          integer      in the count store when the graph was read
//   $relationshipCount  integer      likewise
//   $vertices           integer      vertices read
//   $edges              integer      edges read
//   $memberships        integer      memberships written
//   $fingerprint        string|null  keyed hash of keys and edges
//   $membershipHash     string       hash of the memberships
// returns:
//   completed  integer  1
// repeatable: sets the same values again.
MATCH (run:PCohesionRun {id: $run})
SET run.status = 'complete',
    run.nodeCount = $nodeCount,
    run.relationshipCount = $relationshipCount,
    run.vertices = $vertices,
    run.edges = $edges,
    run.memberships = $memberships,
    run.fingerprint = $fingerprint,
    run.membershipHash = $membershipHash,
    run.finishedAt = datetime()
WITH run
CALL (run) {
  MATCH (old:PCohesionRun {graph: $graph})
  WHERE old.id IN $replaced AND old.id <> run.id
  SET old.status = 'replaced'
}
RETURN count(run) AS completed
