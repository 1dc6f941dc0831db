// Lock versions of a run until the transaction ends. A release locks the version that it uses, and a process that
// removes versions locks them first, so each sees what the other has done even if the lock on the graph is lost.
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
