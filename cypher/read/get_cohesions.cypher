// The current hubs that a run has for some vertices, with their members, in one row.
//
// names:
//   Person  labels    all chosen labels
//   id      property  the key property
// parameters:
//   $run      string                the run
//   $version  integer               the version that readers go by
//   $keys     list<integer|string>  the vertices
// returns:
//   keys     list<integer|string>              the vertex of each hub
//   edges    list<integer>                     of each, the graph's edges inside when it was written
//   members  list<list<integer|string|null>>   of each, in no order
UNWIND $keys AS key
MATCH (vertex:Person {id: key})-[:HAS_COHESION]->(cohesion:PCohesion {run: $run})
WHERE cohesion.from <= $version AND cohesion.until > $version
RETURN collect(vertex.id) AS keys,
       collect(cohesion.edges) AS edges,
       collect([(member:Person)-[:IN_COHESION]->(cohesion) | member.id]) AS members
