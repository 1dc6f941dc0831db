// List the vertices whose cohesions contain one vertex, itself included.
//
// names:
//   Person  labels    the chosen labels
//   id      property  the key property
// parameters:
//   $run  string            id of a standing run
//   $id   integer | string  key of the vertex
// returns:
//   vertex   integer | string  key of the cohesion's vertex, ascending
//   size     integer           members of the cohesion
//   edges    integer           connections inside it
//   density  float             share of its pairs that are connected
// cost: HepPh, p=0.1, by density: half of the vertices give 5 rows or fewer, in 4 ms; at most 132 rows, in 13 ms.
MATCH (run:PCohesionRun {id: $run})
WITH run.version AS version
MATCH (:Person {id: $id})-[:IN_COHESION]->(c:PCohesion {run: $run})<-[:HAS_COHESION]-(v)
WHERE c.from <= version < c.until
RETURN v.id AS vertex, c.size AS size, c.edges AS edges, c.density AS density
ORDER BY vertex
