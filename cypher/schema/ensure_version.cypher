// Make a version's record unique among those of its run.
CREATE CONSTRAINT pcneo_version IF NOT EXISTS
FOR (version:PCohesionVersion)
REQUIRE (version.run, version.version) IS UNIQUE
