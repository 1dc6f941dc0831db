// Make the name of a graph unique among the graphs that pcneo knows.
CREATE CONSTRAINT pcneo_graph_name IF NOT EXISTS
FOR (graph:PCohesionGraph)
REQUIRE graph.name IS UNIQUE
