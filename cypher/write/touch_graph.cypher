// Take or keep the write lock on one graph for as long as this transaction is open.
//
// parameters:
//   $name  string  the graph's name
// returns:
//   name  string  the graph's name; no row if there is no such graph
// repeatable: it only writes the time.
MATCH (graph:PCohesionGraph {name: $name})
SET graph.lockedAt = datetime()
RETURN graph.name AS name
