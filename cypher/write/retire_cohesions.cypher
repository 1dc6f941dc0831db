// Retire the current hubs of some vertices from the next version on.
//
// names:
//   Person  labels    all chosen labels
//   id      property  the key property
// parameters:
//   $run      string                the run
//   $version  integer               the version that readers go by
//   $next     integer               the first version without them
//   $keys     list<integer|string>  the vertices
// returns:
//   retired  integer  hubs
// repeatable: a retired hub is no longer current.
UNWIND $keys AS key
MATCH (:Person {id: key})-[:HAS_COHESION]->(cohesion:PCohesion {run: $run})
WHERE cohesion.from <= $version AND cohesion.until = 9007199254740991
WITH DISTINCT cohesion
SET cohesion:PCohesionRetired,
    cohesion.until = $next
RETURN count(cohesion) AS retired
