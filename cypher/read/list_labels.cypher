// The node labels in use.
//
// returns:
//   label  string  ascending
CALL db.labels() YIELD label
RETURN label
ORDER BY label
