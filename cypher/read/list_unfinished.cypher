// The standing runs of one graph, including those that have no version yet.
//
// parameters:
//   $graph  string  name of the graph
// returns:
//   run      string   its id
//   version  integer  the version that readers go by; 0 where the run has none yet
MATCH (run:PCohesionRun {graph: $graph})
RETURN run.id AS run, run.version AS version
ORDER BY run
