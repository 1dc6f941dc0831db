// The runs of earlier formats, which name no search.
//
// returns:
//   runs  integer  how many
MATCH (run:PCohesionRun)
WHERE run.id IS NOT NULL AND run.search IS NULL
RETURN count(run) AS runs
