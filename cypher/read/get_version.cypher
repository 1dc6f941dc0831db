// Whether a version of a run can be read.
//
// parameters:
//   $run      string   the run
//   $version  integer  the version
// returns:
//   readable  boolean  no row where there is no such version
MATCH (version:PCohesionVersion {run: $run, version: $version})
RETURN version.readable AS readable
