// Record the means in a release's public file, to report before later releases of the graph.
//
// parameters:
//   $release     string      the release
//   $meanCount   float|null  mean triangles of a vertex, as published
//   $meanDegree  float|null  mean connections of a vertex, as published
// returns:
//   noted  integer  1; 0 where the release is no longer in the ledger
// repeatable: sets two properties to the same values.
MATCH (release:PCohesionRelease {id: $release})
SET release.meanCount = $meanCount,
    release.meanDegree = $meanDegree
RETURN count(release) AS noted
