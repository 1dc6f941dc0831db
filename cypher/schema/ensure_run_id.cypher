// Make the identifier of a run unique.
CREATE CONSTRAINT pcneo_run_id IF NOT EXISTS
FOR (run:PCohesionRun)
REQUIRE run.id IS UNIQUE
