// Index releases by the name of their graph.
CREATE INDEX pcneo_release_graph IF NOT EXISTS
FOR (release:PCohesionRelease)
ON (release.graph)
