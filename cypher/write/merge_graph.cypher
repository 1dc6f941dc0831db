// Record a graph under its name, or return the existing record.
//
// parameters:
//   $name               string        the graph's name
//   $nodeLabels         list<string>  ascending
//   $relationshipTypes  list<string>  ascending
//   $key                string        the key property
//   $fingerprintKey     string        64 hexadecimal digits, used if the graph is new
//   $format             integer       of the data model, used if the graph is new
// returns:
//   nodeLabels         list<string>  as stored
//   relationshipTypes  list<string>  as stored
//   key                string        as stored
//   fingerprintKey     string        as stored
// repeatable: MERGE on a unique name; an existing record stays as it is.
MERGE (graph:PCohesionGraph {name: $name})
ON CREATE SET graph.nodeLabels = $nodeLabels,
              graph.relationshipTypes = $relationshipTypes,
              graph.key = $key,
              graph.fingerprintKey = $fingerprintKey,
              graph.format = $format
RETURN graph.nodeLabels AS nodeLabels, graph.relationshipTypes AS relationshipTypes,
       graph.key AS key, graph.fingerprintKey AS fingerprintKey
