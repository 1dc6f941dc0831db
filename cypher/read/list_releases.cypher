// Every release that was recorded, as it stands; the reader decides which are sound.
//
// returns:
//   element     string  identifies the node within this transaction
//   properties  map     all that it has
// scan: a release that has lost its graph is one to know of, and no index has it.
MATCH (release:PCohesionRelease)
RETURN elementId(release) AS element, properties(release) AS properties
