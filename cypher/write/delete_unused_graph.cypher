// Free a graph's name where nothing was ever stored, allowed or released under it.
//
// parameters:
//   $name  string  the graph's name
// returns:
//   deleted  integer  1, or 0 where the name is used
// repeatable: what is gone is not found again.
MATCH (graph:PCohesionGraph {name: $name})
WHERE NOT EXISTS { MATCH (:PCohesionRun {graph: $name}) }
  AND NOT EXISTS { MATCH (:PCohesionBudget {graph: $name}) }
  AND NOT EXISTS { MATCH (:PCohesionRelease {graph: $name}) }
DELETE graph
RETURN count(*) AS deleted
