// The graphs that no service has looked at for as long as their owner allows.
//
// returns:
//   name  string  unique
MATCH (graph:PCohesionGraph)
WHERE graph.name IS NOT NULL
  AND NOT coalesce(graph.dueAt > datetime(), false)
RETURN graph.name AS name
ORDER BY name
