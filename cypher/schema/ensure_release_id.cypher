// Make the identifier of a release unique.
CREATE CONSTRAINT IF NOT EXISTS
FOR (release:PCohesionRelease)
REQUIRE release.id IS UNIQUE
