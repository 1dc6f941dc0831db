// Relationships of one type that leave nodes of one label, from the count store.
//
// names:
//   Page    label     one of the chosen labels
//   KNOWS   type      one of the chosen relationship types
// returns:
//   relationships  integer  0..
MATCH (:Page)-[:KNOWS]->()
RETURN count(*) AS relationships
