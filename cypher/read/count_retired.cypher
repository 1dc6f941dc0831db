// The members of the hubs of a run that its current version no longer has but that are still there.
//
// parameters:
//   $run  string  the run
// returns:
//   memberships  integer  as they were written
MATCH (cohesion:PCohesionRetired {run: $run})
WHERE cohesion.until > 0
RETURN sum(cohesion.size) AS memberships
