// Lock one session's fence until the transaction ends, and read its writer only once it is locked.
//
// parameters:
//   $graph   string       name of the graph
//   $number  integer 1..  the session's number
// returns:
//   writer  string    token of the writer that the fence lets through; no row where there is no such fence
//   heldAt  datetime  server time
// repeatable: writes the time only.
MATCH (fence:PCohesionFence {graph: $graph, number: $number})
SET fence.heldAt = datetime()
WITH fence
RETURN fence.writer AS writer, fence.heldAt AS heldAt
