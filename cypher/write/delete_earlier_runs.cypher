// Delete the records of the runs of the earlier data model, whose hubs are gone.
//
// returns:
//   deleted  integer  runs deleted
// repeatable: what is gone is not found again.
MATCH (run:PCohesionRun)
WHERE run.id IS NOT NULL AND run.status IS NOT NULL
DETACH DELETE run
RETURN count(*) AS deleted
