// Stop keeping one earlier version of a run, even if releases rest on it.
//
// parameters:
//   $run      string   the run
//   $version  integer  the version
// returns:
//   closed  integer  1, or 0 if no such version is kept, or it is the one that readers go by
// repeatable: sets the same value again.
MATCH (run:PCohesionRun {id: $run})
MATCH (version:PCohesionVersion {run: $run, version: $version})
WHERE version.readable AND version.version < run.version
SET version.readable = false
RETURN count(version) AS closed
