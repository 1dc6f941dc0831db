// Delete some hubs of one run with their memberships.
//
// parameters:
//   $run    string       the run
//   $limit  integer 1..  hubs a transaction
// returns:
//   deleted  integer  hubs deleted; 0 when none is left
// repeatable: what is gone is not found again.
MATCH (cohesion:PCohesion {run: $run})
WITH cohesion
LIMIT $limit
DETACH DELETE cohesion
RETURN count(*) AS deleted
