// List the critical connections of one vertex, each once, as nodes and relationships that Neo4j Browser draws.
//
// names:
//   Person  labels    the chosen labels
//   KNOWS   types     the chosen relationship types
//   id      property  the key property
// parameters:
//   $run  string            id of a standing run
//   $id   integer | string  key of the vertex
// returns:
//   a              node                the end with the smaller key
//   b              node                the other end
//   relationships  list<relationship>  every relationship between the two
// cost: HepPh, p=0.1, by density: half of the vertices give 5 rows or fewer, in 6 ms; at most 452 rows, in about 0.1 s.
MATCH (run:PCohesionRun {id: $run})
WITH run.version AS version
MATCH (:Person {id: $id})-[:HAS_COHESION]->(c:PCohesion {run: $run})<-[:IN_COHESION]-(a)
WHERE c.from <= version < c.until
MATCH (a)-[r:KNOWS]-(b)-[:IN_COHESION]->(c)
WHERE a.id < b.id
RETURN a, b, collect(r) AS relationships
ORDER BY a.id, b.id
