// Take a run out of everybody's sight, in the transaction that holds the graph's lock; a sweep then deletes its hubs.
//
// parameters:
//   $run  string  the run
// returns:
//   hidden  integer  1, or 0 where it is gone
// repeatable: sets the same value again.
MATCH (run:PCohesionRun {id: $run})
SET run.version = 0
RETURN count(run) AS hidden
