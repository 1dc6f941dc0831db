// Record a run before its first hub is written, so that its remains can be found.
//
// parameters:
//   $run         string  a fresh identifier
//   $graph       string  name of its graph
//   $scope       string  graph or vertices
//   $p           float   for filtering
//   $pText       string  canonical fraction a/b, the identity of p
//   $score       string  density or degree
//   $version     string  of pcneo
// returns:
//   created  integer  1
// repeatable: MERGE on a unique identifier.
MERGE (run:PCohesionRun {id: $run})
ON CREATE SET run.graph = $graph,
              run.scope = $scope,
              run.p = $p,
              run.pText = $pText,
              run.score = $score,
              run.version = $version,
              run.status = 'running',
              run.nodeCount = 0,
              run.relationshipCount = 0,
              run.vertices = 0,
              run.edges = 0,
              run.memberships = 0,
              run.startedAt = datetime()
RETURN count(run) AS created
