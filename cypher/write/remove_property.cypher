// Remove a property that a release wrote from some vertices.
//
// names:
//   Person  labels    all chosen labels
//   id      property  the key property
//   noisy   property  the property that holds noisy counts
// parameters:
//   $keys  list<integer|string>  the vertices
// returns:
//   removed  integer  vertices that exist
// repeatable: a second run changes nothing.
UNWIND $keys AS key
MATCH (v:Person {id: key})
REMOVE v.noisy
RETURN count(v) AS removed
