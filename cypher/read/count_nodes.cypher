// Nodes of one label, from the count store.
//
// names:
//   Page    label     one of the chosen labels
// returns:
//   nodes  integer  0..
MATCH (:Page)
RETURN count(*) AS nodes
