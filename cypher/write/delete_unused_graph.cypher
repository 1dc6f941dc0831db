// Free a graph's name if nothing was ever stored, budgeted or released under it.
//
// parameters:
//   $name  string  the graph's name
// returns:
//   deleted  integer  1, or 0 if the name is in use
// repeatable: a second run finds nothing to delete.
// The node comes first, by the index, which locks what it finds or the place of what is missing; then its dependents.
MATCH (graph:PCohesionGraph {name: $name})
USING INDEX SEEK graph:PCohesionGraph(name)
WITH graph
WHERE coalesce(graph.lastVersion, 0) = 0
  AND NOT EXISTS { MATCH (:PCohesionRun {graph: $name}) }
  AND NOT EXISTS { MATCH (:PCohesionBudget {graph: $name}) }
  AND NOT EXISTS { MATCH (:PCohesionRelease {graph: $name}) }
OPTIONAL MATCH (fence:PCohesionFence {graph: $name})
WHERE fence.number > 0
DETACH DELETE fence
WITH DISTINCT graph
DETACH DELETE graph
RETURN count(*) AS deleted
