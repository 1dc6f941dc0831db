// List the connections that are critical in the most cohesions of a run.
//
// names:
//   KNOWS  types     the chosen relationship types
//   id     property  the key property
// parameters:
//   $run    string       id of a standing run
//   $limit  integer 1..  how many to list
// returns:
//   vertex     integer | string  the end with the smaller key; among equal counts, smaller keys first
//   neighbour  integer | string  the other end
//   cohesions  integer           cohesions that the connection is critical in, descending
// cost: HepPh, p=0.1, by density: 5 s; follows all connections of its 289,557 memberships.
MATCH (run:PCohesionRun {id: $run})
WITH run.version AS version
MATCH (c:PCohesion {run: $run})<-[:IN_COHESION]-(m)
WHERE c.from <= version < c.until
WITH c, collect(m) AS members
CALL (members) {
  UNWIND members AS a
  MATCH (a)-[:KNOWS]-(b)
  WHERE b IN members AND a.id < b.id
  RETURN DISTINCT a, b
}
WITH a, b, count(c) AS cohesions
RETURN a.id AS vertex, b.id AS neighbour, cohesions
ORDER BY cohesions DESC, vertex, neighbour
LIMIT $limit
