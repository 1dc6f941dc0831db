// Find the vertices and members of cohesions as `create_cohesions` does, and count the members. Nothing is written; the
// time it takes predicts how long writing will take.
//
// names:
//   Person  labels    all chosen labels
//   id      property  the key property
// parameters:
//   $rows  list<map>  vertex, members (keys)
// returns:
//   memberships  integer  members found
UNWIND $rows AS row
MATCH (vertex:Person {id: row.vertex})
WITH row, vertex
UNWIND row.members AS key
MATCH (member:Person {id: key})
RETURN count(*) AS memberships
