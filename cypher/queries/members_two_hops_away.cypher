// List the members of one vertex's cohesion that are not its neighbours but share a neighbour with it.
//
// names:
//   Person  labels    the chosen labels
//   KNOWS   types     the chosen relationship types
//   id      property  the key property
// parameters:
//   $run  string            id of a standing run
//   $id   integer | string  key of the vertex
// returns:
//   member   integer | string        key of the member, ascending
//   through  list<integer | string>  keys of the neighbours shared with it, members or not, ascending
// cost: HepPh, p=0.1, by density: half of the vertices give at most one row, in 7 ms; at most 107 rows, in 35 ms.
MATCH (run:PCohesionRun {id: $run})
WITH run.version AS version
MATCH (v:Person {id: $id})-[:HAS_COHESION]->(c:PCohesion {run: $run})<-[:IN_COHESION]-(m)
WHERE c.from <= version < c.until AND m <> v AND NOT EXISTS { (v)-[:KNOWS]-(m) }
MATCH (v)-[:KNOWS]-(n:Person)-[:KNOWS]-(m)
WITH DISTINCT m, n
ORDER BY n.id
RETURN m.id AS member, collect(n.id) AS through
ORDER BY member
