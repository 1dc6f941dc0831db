// Connect pairs of vertices, from source to target, unless a relationship of the type connects them in either direction.
//
// names:
//   Page    label     the label of the vertices loaded
//   KNOWS   type      the type of the relationships loaded
//   id      property  the key property
// parameters:
//   $rows   list<map>  source (the smaller key), target, properties (map of scalars); no pair twice
// returns:
//   merged  integer  pairs connected now; fewer than rows if a vertex is gone
// repeatable: MERGE without a direction finds relationships that exist in either direction.
UNWIND $rows AS row
MATCH (source:Page {id: row.source})
MATCH (target:Page {id: row.target})
MERGE (source)-[connection:KNOWS]-(target)
ON CREATE SET connection += row.properties
WITH source, target, count(connection) AS parallel
RETURN count(parallel) AS merged
