// Record a standing run before its first hub is written, so that the remains of a dead writer can be swept.
//
// parameters:
//   $run     string  its id
//   $graph   string  name of its graph
//   $scope   string  graph, vertices or answers
//   $p       float   for filtering
//   $pText   string  canonical fraction a/b, the identity of p
//   $search  string  name of the search
// returns:
//   version  integer  the version that readers go by; 0 where the run has none yet
// repeatable: MERGE on a unique id.
MERGE (run:PCohesionRun {id: $run})
ON CREATE SET run.graph = $graph,
              run.scope = $scope,
              run.p = $p,
              run.pText = $pText,
              run.search = $search,
              run.version = 0
RETURN run.version AS version
