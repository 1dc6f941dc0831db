// Claim one look at a graph, in the transaction that has locked it.
//
// parameters:
//   $name   string  the graph's name
//   $every  float   seconds until the next look
// returns:
//   reread  boolean  whether the time has come to read all of it, though it may not have changed; no row for a graph
//                    that is gone or that someone else has looked at
// repeatable: a second time it is not due.
MATCH (graph:PCohesionGraph {name: $name})
WHERE NOT coalesce(graph.dueAt > datetime(), false)
SET graph.dueAt = datetime() + duration({milliseconds: toInteger(1000 * $every)})
RETURN NOT coalesce(graph.rereadAt > datetime(), false) AS reread
