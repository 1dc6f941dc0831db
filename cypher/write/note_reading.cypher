// Record that a whole graph was read, and when it may next be read even if it has not changed.
//
// parameters:
//   $name  string  the graph's name
//   $wait  float   seconds
// returns:
//   noted  integer  1, or 0 where the graph is gone
// repeatable: sets the same values again, a little later.
MATCH (graph:PCohesionGraph {name: $name})
SET graph.rereadAt = datetime() + duration({milliseconds: toInteger(1000 * $wait)})
RETURN count(graph) AS noted
