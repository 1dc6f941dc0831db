// Lock one session's fence until the transaction ends, and only then read whose it is.
//
// parameters:
//   $graph   string       name of the graph
//   $number  integer 1..  the session's
// returns:
//   writer  string    token of the writer that the fence lets through; no row where there is no such fence
//   heldAt  datetime  server time
// repeatable: writes the time only.
MATCH (fence:PCohesionFence {graph: $graph, number: $number})
SET fence.heldAt = datetime()
WITH fence
RETURN fence.writer AS writer, fence.heldAt AS heldAt
