// What owners did to the ledger by hand.
//
// returns:
//   properties  map  all that the note has
// scan: there are few.
MATCH (note:PCohesionNote)
RETURN properties(note) AS properties
