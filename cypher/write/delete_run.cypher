// Delete the record of a run whose hubs are gone.
//
// parameters:
//   $run  string  the run
// returns:
//   deleted  integer  1, or 0 if it was gone
// repeatable: a second run finds nothing to delete.
MATCH (run:PCohesionRun {id: $run})
DETACH DELETE run
RETURN count(*) AS deleted
