// The relationship types in use.
//
// returns:
//   type  string  ascending
CALL db.relationshipTypes() YIELD relationshipType
RETURN relationshipType AS type
ORDER BY type
