// Delete the record of a run whose hubs are gone.
//
// parameters:
//   $run  string  the run
// returns:
//   deleted  integer  1, or 0 where it was gone
// repeatable: what is gone is not found again.
MATCH (run:PCohesionRun {id: $run})
DETACH DELETE run
RETURN count(*) AS deleted
