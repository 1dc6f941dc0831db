// Retire, from the next version on, the current hubs whose vertex is gone or is no longer a vertex of the graph.
//
// names:
//   Person  labels    all chosen labels
// parameters:
//   $run      string       the run
//   $version  integer      the version that readers go by
//   $next     integer      the first version without them
//   $limit    integer 1..  hubs per transaction
// returns:
//   retired  integer  hubs; 0 when none is left
// repeatable: a retired hub is no longer current.
MATCH (cohesion:PCohesion {run: $run})
WHERE cohesion.from <= $version AND cohesion.until = 9007199254740991
  AND NOT EXISTS { (:Person)-[:HAS_COHESION]->(cohesion) }
WITH cohesion
LIMIT $limit
SET cohesion:PCohesionRetired,
    cohesion.until = $next
RETURN count(cohesion) AS retired
