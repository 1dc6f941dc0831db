// One page of the vertices of one label in key order, each with the keys of the neighbours its relationships point to.
// The page comes in one row: unpacking a row takes the driver as long as unpacking hundreds of keys in a list.
//
// names:
//   Page    label     one of the chosen labels
//   Person  labels    all chosen labels
//   KNOWS   types     the chosen relationship types
//   id      property  the key property
// parameters:
//   $from     integer|string  smallest key of the page
//   $limit    integer 1..     vertices in the page
//   $earlier  list<string>    chosen labels whose pages were read before; their vertices are left out
// returns:
//   keys        list<integer|string>              the vertices, ascending
//   neighbours  list<list<integer|string|null>>   one entry for each relationship, including loops and parallel ones
MATCH (v:Page)
WHERE v.id >= $from AND NOT any(label IN $earlier WHERE label IN labels(v))
WITH v
ORDER BY v.id
LIMIT $limit
RETURN collect(v.id) AS keys, collect([(v)-[:KNOWS]->(neighbour:Person) | neighbour.id]) AS neighbours
