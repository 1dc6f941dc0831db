// Free a graph's name if nothing was ever stored, budgeted or released under it.
//
// parameters:
//   $name  string  the graph's name
// returns:
//   deleted  integer  1, or 0 if the name is in use
// repeatable: a second run finds nothing to delete.
// First the node, by the index, which locks the node or, if it finds none, its place; then whatever depends on it.
MATCH (graph:PCohesionGraph {name: $name})
USING INDEX SEEK graph:PCohesionGraph(name)
WITH graph
WHERE coalesce(graph.lastVersion, 0) = 0
  AND NOT EXISTS { MATCH (:PCohesionRun {graph: $name}) }
  AND NOT EXISTS { MATCH (:PCohesionBudget {graph: $name}) }
  AND NOT EXISTS { MATCH (:PCohesionRelease {graph: $name}) }
OPTIONAL MATCH (fence:PCohesionFence {graph: $name})
WHERE fence.number > 0
DELETE fence
WITH DISTINCT graph
DELETE graph
RETURN count(*) AS deleted
