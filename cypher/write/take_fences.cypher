// Put a writer's token on the fences of a graph; waits for the transactions of earlier writers that are under way.
//
// parameters:
//   $graph   string         name of the graph
//   $fences  integer 1..    how many, one for each session of a writer
//   $writer  string         the writer's token
// returns:
//   fences  integer  as many
// repeatable: sets the same token again.
UNWIND range(1, $fences) AS number
MERGE (fence:PCohesionFence {graph: $graph, number: number})
SET fence.writer = $writer
RETURN count(fence) AS fences
