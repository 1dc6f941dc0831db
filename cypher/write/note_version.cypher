// Record the latest version number of a graph, in the transaction that holds its lock.
//
// parameters:
//   $graph    string   name of the graph
//   $version  integer  the number
// returns:
//   noted  integer  1, or 0 where the graph is gone
// repeatable: sets the same value again.
MATCH (graph:PCohesionGraph {name: $graph})
SET graph.lastVersion = $version
RETURN count(graph) AS noted
