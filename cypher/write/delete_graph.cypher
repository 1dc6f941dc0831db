// Delete pcneo's records of a graph, its name and its fences, in the transaction that holds its lock.
//
// parameters:
//   $name  string  the graph's name
// returns:
//   deleted  integer  1, or 0 where it is gone
// repeatable: what is gone is not found again.
MATCH (graph:PCohesionGraph {name: $name})
OPTIONAL MATCH (fence:PCohesionFence {graph: $name})
WHERE fence.number > 0
DELETE fence
WITH DISTINCT graph
DETACH DELETE graph
RETURN count(*) AS deleted
