// Record on releases that a property no longer holds their noisy counts.
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
