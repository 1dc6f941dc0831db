// Note on releases that their noisy counts are no longer a property of the vertices.
//
// parameters:
//   $releases  list<string>  the releases
// returns:
//   retired  integer  releases found
// repeatable: what is gone stays gone; the time is written anew.
UNWIND $releases AS id
MATCH (release:PCohesionRelease {id: id})
SET release.propertyRemovedAt = datetime()
REMOVE release.property, release.propertyHash
RETURN count(release) AS retired
