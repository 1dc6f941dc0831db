// Remove a property of our own from some vertices.
//
// names:
//   Person  labels    all chosen labels
//   id      property  the key property
//   noisy   property  the property that holds noisy counts
// parameters:
//   $keys  list<integer|string>  the vertices
// returns:
//   removed  integer  vertices found
// repeatable: what is gone is not found again.
UNWIND $keys AS key
MATCH (v:Person {id: key})
REMOVE v.noisy
RETURN count(v) AS removed
