// Find vertices by label and key, and create the missing ones; only new vertices get the properties.
//
// names:
//   Page    label     the label of the vertices loaded
//   id      property  the key property
// parameters:
//   $rows   list<map>  key (integer or string), properties (map of scalars, without the key property); no key twice
// returns:
//   merged  integer  vertices found or created; any number but that of the rows is an error
// repeatable: MERGE on a unique key; existing vertices stay as they are.
UNWIND $rows AS row
MERGE (v:Page {id: row.key})
ON CREATE SET v += row.properties
RETURN count(v) AS merged
