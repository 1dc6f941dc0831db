// Every total, release and note, as it stands; the reader decides which are sound.
//
// returns:
//   element     string        identifies the node within this transaction
//   labels      list<string>  its labels
//   properties  list<any>     a pair of name and value for each; a time in UTC; a value that pcneo never writes, such as
//                             a time that drivers cannot hold, is a map with its kind
// scan: a record that has lost its graph must be found too, and no index has it.
MATCH (record:PCohesionBudget|PCohesionRelease|PCohesionNote)
RETURN elementId(record) AS element,
       labels(record) AS labels,
       [name IN keys(record) |
         [name,
          CASE
            WHEN valueType(record[name]) =~ '(LIST<)?(STRING|INTEGER|FLOAT|BOOLEAN|NOTHING).*' THEN record[name]
            WHEN valueType(record[name]) STARTS WITH 'ZONED DATETIME'
                 AND datetime({year: 1970}) <= record[name] < datetime({year: 9999})
              THEN datetime({datetime: record[name], timezone: 'Z'})
            ELSE {kind: valueType(record[name])}
          END]
       ] AS properties
