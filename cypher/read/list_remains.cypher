// The runs of one graph of which a writer has left invisible remains: hubs of a version that was never completed, or the
// run itself. Runs of whole graphs come last, since a lot may be left of them.
//
// parameters:
//   $graph  string  name of the graph
// returns:
//   scope    string   graph, vertices or answers
//   run      string   its id
//   version  integer  the version that readers go by; 0 where the run has none yet
MATCH (run:PCohesionRun {graph: $graph})
WHERE run.version = 0
   OR EXISTS {
     MATCH (cohesion:PCohesion {run: run.id})
     USING INDEX SEEK cohesion:PCohesion(run, from)
     WHERE cohesion.from > run.version
   }
   OR EXISTS {
     MATCH (cohesion:PCohesionRetired {run: run.id})
     WHERE cohesion.until > run.version
   }
RETURN run.scope AS scope, run.id AS run, run.version AS version
ORDER BY scope = 'graph', run
