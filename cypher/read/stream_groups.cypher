// The hubs of one version of a run, including those whose vertex is gone, with the members that they still have.
//
// names:
//   id  property  the key property
// parameters:
//   $run      string   the run
//   $version  integer  the version
// returns:
//   owner     integer                    keyed hash of the key of the vertex whose cohesion it is
//   digest    string                     keyed hash of that key and the members' keys
//   size      integer 1..                members, as written
//   vertices  list<integer|string|null>  the vertex; empty where it is gone
//   members   list<integer|string|null>  in no order
MATCH (cohesion:PCohesion {run: $run})
WHERE cohesion.from <= $version AND cohesion.until > $version
RETURN cohesion.owner AS owner,
       cohesion.digest AS digest,
       cohesion.size AS size,
       [(vertex)-[:HAS_COHESION]->(cohesion) | vertex.id] AS vertices,
       [(member)-[:IN_COHESION]->(cohesion) | member.id] AS members
