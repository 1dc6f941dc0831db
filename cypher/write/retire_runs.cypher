// Make runs invisible before their hubs are deleted.
//
// parameters:
//   $runs  list<string>  the runs
// returns:
//   retired  integer  runs that exist
// repeatable: sets the same value again.
UNWIND $runs AS id
MATCH (run:PCohesionRun {id: id})
SET run.status = 'replaced'
RETURN count(run) AS retired
