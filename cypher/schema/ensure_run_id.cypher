// Make the identifier of a run unique.
CREATE CONSTRAINT IF NOT EXISTS
FOR (run:PCohesionRun)
REQUIRE run.id IS UNIQUE
