// Delete the records of runs in earlier formats, whose hubs are gone, along with those of their versions.
//
// returns:
//   deleted  integer  runs deleted
// repeatable: what is gone is not found again.
MATCH (run:PCohesionRun)
WHERE run.id IS NOT NULL AND run.search IS NULL
OPTIONAL MATCH (version:PCohesionVersion {run: run.id})
WHERE version.version > 0
WITH run, collect(version) AS versions
FOREACH (version IN versions | DETACH DELETE version)
DETACH DELETE run
RETURN count(*) AS deleted
