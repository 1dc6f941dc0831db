// How many members the hubs of a run have that its current version is without and that are still stored.
//
// parameters:
//   $run  string  the run
// returns:
//   memberships  integer  as they were written
MATCH (cohesion:PCohesionRetired {run: $run})
WHERE cohesion.until > 0
RETURN sum(cohesion.size) AS memberships
