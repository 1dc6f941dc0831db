// Store the hash of a graph's keys with those of its releases whose hash is under another secret.
//
// parameters:
//   $graph        string  the graph's name
//   $fingerprint  string  the mark of the secret, and the hash
//   $mark         string  that mark
// returns:
//   marked  integer  releases that were changed
// repeatable: sets the same values again.
MATCH (release:PCohesionRelease {graph: $graph})
WHERE NOT release.keysFingerprint STARTS WITH $mark
SET release.keysFingerprint = $fingerprint
RETURN count(release) AS marked
