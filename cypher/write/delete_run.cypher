// Delete the record of a hidden run whose hubs are gone, along with the records of its versions.
//
// parameters:
//   $run  string  the run
// returns:
//   deleted  integer  1, or 0 where it is gone or has a version
// repeatable: what is gone is not found again.
MATCH (run:PCohesionRun {id: $run, version: 0})
OPTIONAL MATCH (version:PCohesionVersion {run: $run})
WHERE version.version > 0
DETACH DELETE version
WITH DISTINCT run
DETACH DELETE run
RETURN count(*) AS deleted
