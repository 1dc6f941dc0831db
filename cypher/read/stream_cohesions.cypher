// The hubs of one run with their members.
//
// names:
//   Person  labels    all chosen labels
//   id      property  the key property
// parameters:
//   $run  string  the run
// returns:
//   vertex   integer|string        the owner
//   size     integer 1..           members, the owner included
//   edges    integer 0..           the graph's edges inside
//   members  list<integer|string>  in no order
MATCH (cohesion:PCohesion {run: $run})
RETURN [(owner:Person)-[:HAS_COHESION]->(cohesion) | owner.id][0] AS vertex,
       cohesion.size AS size,
       cohesion.edges AS edges,
       [(member:Person)-[:IN_COHESION]->(cohesion) | member.id] AS members
