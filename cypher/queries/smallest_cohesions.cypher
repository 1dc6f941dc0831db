// List the smallest cohesions of a run, without those of isolated vertices, which have a single member.
//
// names:
//   id  property  the key property
// parameters:
//   $run    string       id of a standing run
//   $limit  integer 1..  how many to list
// returns:
//   vertex   integer | string  key of the cohesion's vertex; with equal sizes, the smaller key first
//   size     integer           members of the cohesion, ascending
//   edges    integer           connections inside it
//   density  float             share of its pairs that are connected
// cost: HepPh, p=0.1, by density: 0.1 s; reads all of the run's 34,546 cohesions.
MATCH (run:PCohesionRun {id: $run})
WITH run.version AS version
MATCH (c:PCohesion {run: $run})<-[:HAS_COHESION]-(v)
WHERE c.from <= version < c.until AND c.size > 1
RETURN v.id AS vertex, c.size AS size, c.edges AS edges, c.density AS density
ORDER BY size, vertex
LIMIT $limit
