// Make the fence of one session unique among those of its graph.
CREATE CONSTRAINT pcneo_fence IF NOT EXISTS
FOR (fence:PCohesionFence)
REQUIRE (fence.graph, fence.number) IS UNIQUE
