// The hubs of one version of a run with their members.
//
// names:
//   Person  labels    all chosen labels
//   id      property  the key property
// parameters:
//   $run      string   the run
//   $version  integer  the version
// returns:
//   vertex   integer|string        the vertex whose cohesion it is
//   members  list<integer|string>  in no order
MATCH (cohesion:PCohesion {run: $run})
WHERE cohesion.from <= $version AND cohesion.until > $version
RETURN [(vertex:Person)-[:HAS_COHESION]->(cohesion) | vertex.id][0] AS vertex,
       [(member:Person)-[:IN_COHESION]->(cohesion) | member.id] AS members
