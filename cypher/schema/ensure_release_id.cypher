// Make the identifier of a release unique.
CREATE CONSTRAINT pcneo_release_id IF NOT EXISTS
FOR (release:PCohesionRelease)
REQUIRE release.id IS UNIQUE
