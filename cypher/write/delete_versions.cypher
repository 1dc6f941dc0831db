// Delete the records of versions of a run that no one asks for any more.
//
// parameters:
//   $run       string         the run
//   $versions  list<integer>  the versions
// returns:
//   deleted  integer  versions
// repeatable: what is gone is not found again.
UNWIND $versions AS number
MATCH (version:PCohesionVersion {run: $run, version: number})
DETACH DELETE version
RETURN count(*) AS deleted
