// Hide a run and all its versions: a reader of one of them gets an error at the end, because it is gone.
// A sweep then deletes the hubs.
//
// parameters:
//   $run  string  the run
// returns:
//   hidden  integer  1, or 0 where it is gone
// repeatable: sets the same value again.
MATCH (run:PCohesionRun {id: $run})
SET run.version = 0
WITH run
OPTIONAL MATCH (version:PCohesionVersion {run: $run})
WHERE version.version > 0
SET version.readable = false
RETURN count(DISTINCT run) AS hidden
