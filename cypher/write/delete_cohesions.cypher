// Delete some hubs of one run with their memberships.
//
// parameters:
//   $run    string       the run
//   $limit  integer 1..  hubs per transaction
// returns:
//   deleted  integer  hubs deleted; 0 when none is left
// repeatable: a second run finds nothing to delete.
MATCH (cohesion:PCohesion {run: $run})
WITH cohesion
LIMIT $limit
DETACH DELETE cohesion
RETURN count(*) AS deleted
