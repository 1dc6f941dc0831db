// Lock versions of a run until the transaction ends. A release that comes to rest on one takes this
// lock as whoever lets it go does, so that each sees what the other has done, lock of the graph or not.
//
// parameters:
//   $run       string         the run
//   $versions  list<integer>  the versions
// returns:
//   version   integer  one of them that is on record
//   readable  boolean  whether its hubs are kept
// repeatable: writes the time only.
MATCH (version:PCohesionVersion {run: $run})
WHERE version.version IN $versions
WITH version
ORDER BY version.version
SET version.heldAt = datetime()
WITH version
RETURN version.version AS version, version.readable AS readable
