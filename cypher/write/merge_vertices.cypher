// Find vertices by label and key, and create those that are not there; only a new vertex gets the properties.
//
// names:
//   Page    label     the label of the vertices loaded
//   id      property  the key property
// parameters:
//   $rows   list<map>  key (integer or string), properties (map of scalars, without the key property); no key twice
// returns:
//   merged  integer  vertices found or created: as many as rows, or something is amiss
// repeatable: MERGE on a unique key; what is there already stays as it is.
UNWIND $rows AS row
MERGE (v:Page {id: row.key})
ON CREATE SET v += row.properties
RETURN count(v) AS merged
