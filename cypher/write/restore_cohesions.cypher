// Make current again the hubs that were retired for a version of a run that was never completed.
//
// parameters:
//   $run      string       the run
//   $version  integer      the version that readers go by
//   $limit    integer 1..  hubs per transaction
// returns:
//   restored  integer  hubs; 0 when none is left
// repeatable: a current hub is not found again.
MATCH (cohesion:PCohesionRetired {run: $run})
WHERE cohesion.until > $version
WITH cohesion
LIMIT $limit
SET cohesion.until = 9007199254740991
REMOVE cohesion:PCohesionRetired
RETURN count(cohesion) AS restored
