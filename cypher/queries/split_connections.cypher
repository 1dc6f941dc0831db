// List the connections of one vertex, the critical ones first, then the others.
//
// names:
//   Person  labels    the chosen labels
//   KNOWS   types     the chosen relationship types
//   id      property  the key property
// parameters:
//   $run  string            id of a standing run
//   $id   integer | string  key of the vertex
// returns:
//   neighbour  integer | string  the other end; the critical ones ascending, then the others
//   critical   boolean           whether it is a member of the vertex's cohesion
// cost: HepPh, p=0.1, by density: a row for each neighbour; half of the vertices give 15 rows or fewer, in 6 ms; at most 846 rows, in 50 ms.
MATCH (run:PCohesionRun {id: $run})
WITH run.version AS version
MATCH (v:Person {id: $id})-[:HAS_COHESION]->(c:PCohesion {run: $run})
WHERE c.from <= version < c.until
MATCH (v)-[:KNOWS]-(n:Person)
WHERE n <> v
WITH DISTINCT c, n
RETURN n.id AS neighbour, EXISTS { (n)-[:IN_COHESION]->(c) } AS critical
ORDER BY critical DESC, neighbour
