// Take or keep the write lock on one graph for as long as this transaction is open.
//
// parameters:
//   $name  string  the graph's name
// returns:
//   lastVersion  integer   the largest version number used so far; no row where there is no such graph
//   lockedAt     datetime  server time
// repeatable: writes the time only.
MATCH (graph:PCohesionGraph {name: $name})
SET graph.lockedAt = datetime()
RETURN coalesce(graph.lastVersion, 0) AS lastVersion, graph.lockedAt AS lockedAt
