// Record on a fence the version number published behind it, in the transaction that holds it: the graph's node is locked
// then.
//
// parameters:
//   $graph    string       name of the graph
//   $number   integer 1..  of the fence
//   $version  integer      the number of the version
// returns:
//   noted  integer  1, or 0 where there is no such fence
// repeatable: sets the same value again.
MATCH (fence:PCohesionFence {graph: $graph, number: $number})
SET fence.lastVersion = $version
RETURN count(fence) AS noted
