// Delete some hubs of runs of earlier formats, which name no search.
//
// parameters:
//   $limit  integer 1..  hubs a transaction
// returns:
//   deleted  integer  hubs deleted; 0 when none is left
// repeatable: what is gone is not found again.
MATCH (run:PCohesionRun)
WHERE run.id IS NOT NULL AND run.search IS NULL
MATCH (cohesion:PCohesion {run: run.id})
WITH cohesion
LIMIT $limit
DETACH DELETE cohesion
RETURN count(*) AS deleted
