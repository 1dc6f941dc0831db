// Mark one replaced version of a run as no longer kept, even if releases rest on it.
//
// parameters:
//   $run      string   the run
//   $version  integer  the version
// returns:
//   closed  integer  1, or 0 where there is no such version that is kept, or readers go by it
// repeatable: sets the same value again.
MATCH (run:PCohesionRun {id: $run})
MATCH (version:PCohesionVersion {run: $run, version: $version})
WHERE version.readable AND version.version < run.version
SET version.readable = false
RETURN count(version) AS closed
