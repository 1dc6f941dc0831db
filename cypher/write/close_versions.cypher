// Mark earlier versions of a run as no longer kept, before their hubs are deleted.
//
// parameters:
//   $run      string         the run
//   $version  integer        the version that readers go by
//   $keep     integer 0..    how many of the versions before it stay, at least
//   $seconds  integer 0..    how long a version stays after it was replaced, at least
//   $pinned   list<integer>  versions that stay
// returns:
//   closed  integer  versions
// repeatable: a version that is no longer kept is not found again.
MATCH (version:PCohesionVersion {run: $run})
WHERE version.readable AND version.version < $version
WITH version
ORDER BY version.version DESC
SKIP $keep
WHERE NOT version.version IN $pinned
  AND version.replacedAt <= datetime() - duration({seconds: $seconds})
SET version.readable = false
RETURN count(version) AS closed
