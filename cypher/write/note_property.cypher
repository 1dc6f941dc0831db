// Record on a release which property holds its noisy counts.
//
// parameters:
//   $release   string  the release
//   $property  string  the property
//   $hash      string  hash of keys and values
// returns:
//   noted  integer  1, or 0 if the release is gone
// repeatable: sets the same values again.
MATCH (release:PCohesionRelease {id: $release})
SET release.property = $property,
    release.propertyHash = $hash
RETURN count(release) AS noted
