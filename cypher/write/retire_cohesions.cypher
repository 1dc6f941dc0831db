// Retire the current hubs of some vertices: the next version is without them.
// A hub gets its name late, so that a plan made before there were hubs begins at the vertices, too.
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
MATCH (:Person {id: key})-[:HAS_COHESION]->(hub)
WITH DISTINCT hub AS cohesion
WHERE cohesion:PCohesion AND cohesion.run = $run AND cohesion.from <= $version AND cohesion.until = 9007199254740991
SET cohesion:PCohesionRetired,
    cohesion.until = $next
RETURN count(cohesion) AS retired
