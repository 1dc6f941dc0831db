// List the vertices that are members of the most cohesions of a run.
//
// names:
//   id  property  the key property
// parameters:
//   $run    string       id of a standing run
//   $limit  integer 1..  how many to list
// returns:
//   vertex     integer | string  key of the vertex; with equal counts, the smaller key first
//   cohesions  integer           cohesions it is a member of, its own included, descending
// cost: HepPh, p=0.1, by density: 0.2 s; reads all of the run's 289,557 memberships.
MATCH (run:PCohesionRun {id: $run})
WITH run.version AS version
MATCH (c:PCohesion {run: $run})<-[:IN_COHESION]-(v)
WHERE c.from <= version < c.until
WITH v, count(c) AS cohesions
RETURN v.id AS vertex, cohesions
ORDER BY cohesions DESC, vertex
LIMIT $limit
