// Take on the next look at a graph, in the transaction that has locked it.
//
// parameters:
//   $name   string  the graph's name
//   $every  float   seconds until the next look
// returns:
//   reread  boolean  whether it is time to read the whole graph, even if it may not have changed; no row for a graph
//                    that is gone or that another service has looked at
// repeatable: the second time, it is not due.
MATCH (graph:PCohesionGraph {name: $name})
WHERE NOT coalesce(graph.dueAt > datetime(), false)
SET graph.dueAt = datetime() + duration({milliseconds: toInteger(1000 * $every)})
RETURN NOT coalesce(graph.rereadAt > datetime(), false) AS reread
