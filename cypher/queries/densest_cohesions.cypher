// List the densest cohesions of a run, the larger first where densities are equal.
//
// names:
//   id  property  the key property
// parameters:
//   $run    string       id of a run
//   $limit  integer 1..  how many to list
// returns:
//   vertex   integer | string  key of the cohesion's vertex; the smaller key first where sizes are equal too
//   size     integer           members of the cohesion, two or more: one alone has no density
//   edges    integer           connections inside it
//   density  float             share of its pairs that are connected, descending
// cost: HepPh, p=0.1: 0.1 s; reads all of the run's 34,546 cohesions.
MATCH (c:PCohesion {run: $run})<-[:HAS_COHESION]-(v)
WHERE c.size > 1
RETURN v.id AS vertex, c.size AS size, c.edges AS edges, c.density AS density
ORDER BY density DESC, size DESC, vertex
LIMIT $limit
