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
//   edges    list<integer>                     for each hub, the graph's edges inside when it was written
//   proven   list<boolean>                     for each hub, whether no smaller p-cohesion of the vertex exists
//   best     list<boolean>                     for each hub, whether no p-cohesion of a better rank exists
//   members  list<list<integer|string|null>>   for each hub, in no order
UNWIND $keys AS key
MATCH (vertex:Person {id: key})-[:HAS_COHESION]->(cohesion:PCohesion {run: $run})
WHERE cohesion.from <= $version AND cohesion.until > $version
RETURN collect(vertex.id) AS keys,
       collect(cohesion.edges) AS edges,
       collect(cohesion.proven) AS proven,
       collect(cohesion.best) AS best,
       collect([(member:Person)-[:IN_COHESION]->(cohesion) | member.id]) AS members
