// Put a writer's token on the fences of a graph; waits for the transactions of earlier writers that are under way.
//
// parameters:
//   $graph   string         name of the graph
//   $fences  integer 1..    how many, one for each session of a writer
//   $writer  string         the writer's token
// returns:
//   fences       integer  how many there are
//   lastVersion  integer  the largest version number that was published behind one of them, 0 for none
// repeatable: sets the same token again.
UNWIND range(1, $fences) AS number
MERGE (fence:PCohesionFence {graph: $graph, number: number})
SET fence.writer = $writer
RETURN count(fence) AS fences,
       max(CASE WHEN valueType(fence.lastVersion) = 'INTEGER NOT NULL' THEN fence.lastVersion ELSE 0 END) AS lastVersion
