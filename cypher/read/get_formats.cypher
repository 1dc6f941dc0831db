// What the database has in other formats of the data model: a run of an earlier one names no search.
//
// parameters:
//   $format  integer  of the data model
// returns:
//   earlier  integer      runs of earlier formats
//   later    string|null  name of a graph that was written in a later format
OPTIONAL MATCH (run:PCohesionRun)
WHERE run.id IS NOT NULL AND run.search IS NULL
WITH count(run) AS earlier
OPTIONAL MATCH (graph:PCohesionGraph)
WHERE graph.name IS NOT NULL AND graph.format > $format
RETURN earlier, min(graph.name) AS later
