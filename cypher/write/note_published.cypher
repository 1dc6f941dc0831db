// Record what a release's public file says in the mean, to be said before later releases of the graph.
//
// parameters:
//   $release     string      the release
//   $meanCount   float|null  triangles of a vertex, in the mean, as they were published
//   $meanDegree  float|null  connections of a vertex likewise
// returns:
//   noted  integer  1; 0 where the release is no longer in the ledger
// repeatable: it sets two properties to the same values.
MATCH (release:PCohesionRelease {id: $release})
SET release.meanCount = $meanCount,
    release.meanDegree = $meanDegree
RETURN count(release) AS noted
