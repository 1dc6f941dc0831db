// Draw one vertex's cohesion in Neo4j Browser: the vertex, a thick arrow to its cohesion's node, and the critical connections.
//
// names:
//   Person  labels    the chosen labels
//   KNOWS   types     the chosen relationship types
//   id      property  the key property
// parameters:
//   $run  string            id of a standing run
//   $id   integer | string  key of the vertex
// returns:
//   own            path                the vertex and the node of its cohesion
//   a              node                the end with the smaller key
//   b              node                the other end
//   relationships  list<relationship>  every relationship between the two
// cost: HepPh, p=0.1, by density: the same as critical_connections, with the same rows.
MATCH (run:PCohesionRun {id: $run})
WITH run.version AS version
MATCH own = (:Person {id: $id})-[:HAS_COHESION]->(c:PCohesion {run: $run})
WHERE c.from <= version < c.until
MATCH (c)<-[:IN_COHESION]-(a)
MATCH (a)-[r:KNOWS]-(b)-[:IN_COHESION]->(c)
WHERE a.id < b.id
RETURN own, a, b, collect(r) AS relationships
ORDER BY a.id, b.id
