// The current hubs that a run has for some vertices, with their members, in one row. A value that a hub lacks is an
// empty text, so that all columns are equally long.
// A hub gets its name late, so that a plan made before there were hubs begins at the vertices, too.
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
//   edges    list<any>                         for each hub, the graph's edges inside when it was written
//   proven   list<any>                         for each hub, whether no smaller p-cohesion of the vertex exists
//   best     list<any>                         for each hub, whether no p-cohesion of a better rank exists
//   members  list<list<integer|string|null>>   for each hub, in no order
UNWIND $keys AS key
MATCH (vertex:Person {id: key})-[:HAS_COHESION]->(hub)
WITH vertex, hub AS cohesion
WHERE cohesion:PCohesion AND cohesion.run = $run AND cohesion.from <= $version AND cohesion.until > $version
RETURN collect(vertex.id) AS keys,
       collect(coalesce(cohesion.edges, '')) AS edges,
       collect(coalesce(cohesion.proven, '')) AS proven,
       collect(coalesce(cohesion.best, '')) AS best,
       collect([(member:Person)-[:IN_COHESION]->(cohesion) | member.id]) AS members
