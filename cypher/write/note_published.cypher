// Record the averages that a release's public file gives, to show them before later releases of the graph.
//
// parameters:
//   $release     string      the release
//   $meanCount   float|null  triangles of a vertex, on average, as published
//   $meanDegree  float|null  connections of a vertex, on average, as published
// returns:
//   noted  integer  1; 0 where the release is no longer in the ledger
// repeatable: it sets two properties to the same values.
MATCH (release:PCohesionRelease {id: $release})
SET release.meanCount = $meanCount,
    release.meanDegree = $meanDegree
RETURN count(release) AS noted
