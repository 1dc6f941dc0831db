// Index runs by the name of their graph.
CREATE INDEX pcneo_run_graph IF NOT EXISTS
FOR (run:PCohesionRun)
ON (run.graph)
