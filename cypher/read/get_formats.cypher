// The parts of the database in another format of the data model: a run in an earlier format does not name a search.
//
// parameters:
//   $format  integer  of the data model
// returns:
//   earlier  integer      runs in earlier formats
//   later    string|null  name of a graph that was written in a later format
OPTIONAL MATCH (run:PCohesionRun)
WHERE run.id IS NOT NULL AND run.search IS NULL
WITH count(run) AS earlier
OPTIONAL MATCH (graph:PCohesionGraph)
WHERE graph.name IS NOT NULL AND graph.format > $format
RETURN earlier, min(graph.name) AS later
