// The runs of the earlier data model, in which each run was a record of its own and had a status.
//
// returns:
//   runs  integer  how many
MATCH (run:PCohesionRun)
WHERE run.id IS NOT NULL AND run.status IS NOT NULL
RETURN count(run) AS runs
