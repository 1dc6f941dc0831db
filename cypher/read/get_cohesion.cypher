// The hub that one version of a run has for a vertex, with its members.
//
// names:
//   Person  labels    all chosen labels
//   id      property  the key property
// parameters:
//   $run      string          the run
//   $version  integer         the version
//   $vertex   integer|string  the vertex
// returns:
//   edges    integer 0..                the graph's edges inside when the hub was written
//   proven   boolean                   whether no smaller p-cohesion of the vertex exists
//   best     boolean                   whether no p-cohesion of a better rank exists
//   members  list<integer|string|null>  in no order
MATCH (:Person {id: $vertex})-[:HAS_COHESION]->(cohesion:PCohesion {run: $run})
WHERE cohesion.from <= $version AND cohesion.until > $version
RETURN cohesion.edges AS edges, cohesion.proven AS proven, cohesion.best AS best,
       [(member:Person)-[:IN_COHESION]->(cohesion) | member.id] AS members
