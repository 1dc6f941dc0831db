// The graphs that pcneo knows in this database.
//
// returns:
//   name               string        unique
//   nodeLabels         list<string>  ascending
//   relationshipTypes  list<string>  ascending
//   key                string        the key property
//   fingerprintKey     string        hexadecimal; keys the fingerprints of this graph's runs
//   format             integer       the latest data model format that was written under its name
MATCH (graph:PCohesionGraph)
WHERE graph.name IS NOT NULL
RETURN graph.name AS name, graph.nodeLabels AS nodeLabels, graph.relationshipTypes AS relationshipTypes,
       graph.key AS key, graph.fingerprintKey AS fingerprintKey, coalesce(graph.format, 1) AS format
ORDER BY name
