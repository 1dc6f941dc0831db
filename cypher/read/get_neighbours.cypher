// The complete neighbourhoods of some vertices, all in one row. The index returns the number as it is in the query, 7
// for 7.0, so the key is read from the node itself, by way of a list.
//
// names:
//   Person  labels    all chosen labels
//   KNOWS   types     the chosen relationship types
//   id      property  the key property
// parameters:
//   $keys  list<integer|string>  200 to 1,000 keys per call cost least
// returns:
//   keys        list<integer|string>             keys that exist, in any order; a repeated key is returned each time
//   neighbours  list<list<integer|string|null>>  for each key, its distinct neighbours, without itself
UNWIND $keys AS wanted
MATCH (v:Person {id: wanted})
WITH head([v]).id AS key, COLLECT {
  MATCH (v)-[:KNOWS]-(neighbour:Person)
  WHERE neighbour <> v
  WITH DISTINCT neighbour
  RETURN neighbour.id
} AS neighbours
RETURN collect(key) AS keys, collect(neighbours) AS neighbours
