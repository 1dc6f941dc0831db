// Record on releases that no property holds their noisy counts any more.
//
// parameters:
//   $releases  list<string>  the releases
// returns:
//   retired  integer  releases that exist
// repeatable: a second run only writes the time again.
UNWIND $releases AS id
MATCH (release:PCohesionRelease {id: id})
SET release.propertyRemovedAt = datetime()
REMOVE release.property, release.propertyHash
RETURN count(release) AS retired
