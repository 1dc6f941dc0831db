// The hub that one run has for a vertex, with its members.
//
// names:
//   Person  labels    all chosen labels
//   id      property  the key property
// parameters:
//   $run     string          the run
//   $vertex  integer|string  the owner
// returns:
//   edges    integer 0..                the graph's edges inside when the run was written
//   members  list<integer|string|null>  in no order
MATCH (:Person {id: $vertex})-[:HAS_COHESION]->(cohesion:PCohesion {run: $run})
RETURN cohesion.edges AS edges, [(member:Person)-[:IN_COHESION]->(cohesion) | member.id] AS members
