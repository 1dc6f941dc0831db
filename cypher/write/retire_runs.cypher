// Take runs out of sight before their hubs are deleted.
//
// parameters:
//   $runs  list<string>  the runs
// returns:
//   retired  integer  runs found
// repeatable: sets the same value again.
UNWIND $runs AS id
MATCH (run:PCohesionRun {id: id})
SET run.status = 'replaced'
RETURN count(run) AS retired
