// Write noisy counts as a property of the vertices.
//
// names:
//   Person  labels    all chosen labels
//   id      property  the key property
//   noisy   property  the property that the owner named
// parameters:
//   $rows  list<map>  vertex and count
// returns:
//   written  integer  vertices written
// repeatable: sets the same values again.
UNWIND $rows AS row
MATCH (v:Person {id: row.vertex})
SET v.noisy = row.count
RETURN count(v) AS written
