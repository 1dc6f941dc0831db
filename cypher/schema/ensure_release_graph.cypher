// Index releases by the name of their graph.
CREATE INDEX IF NOT EXISTS
FOR (release:PCohesionRelease)
ON (release.graph)
