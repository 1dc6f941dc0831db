// Delete some hubs that were written for a version of a run that never came.
//
// parameters:
//   $run      string       the run
//   $version  integer      the version that readers go by
//   $limit    integer 1..  hubs a transaction
// returns:
//   deleted  integer  hubs deleted; 0 when none is left
// repeatable: what is gone is not found again.
MATCH (cohesion:PCohesion {run: $run})
WHERE cohesion.from > $version
WITH cohesion
LIMIT $limit
DETACH DELETE cohesion
RETURN count(*) AS deleted
