// Index runs by the name of their graph.
CREATE INDEX IF NOT EXISTS
FOR (run:PCohesionRun)
ON (run.graph)
