// Nodes of one label by the kind of their key, with an example of each kind.
//
// names:
//   Page    label     one of the chosen labels
//   id      property  the key property
// returns:
//   nodes           integer       nodes of the label
//   integers        integer       those whose key is an integer
//   strings         integer       those whose key is a string
//   missing         integer       those without a key
//   integerExample  integer|null  one of the integers
//   stringExample   string|null   one of the strings
//   missingExample  string|null   elementId of a node without a key
//   missingHas      list<string>|null  names of the properties of some node without a key
//   example         string|null   a key of another kind, as text
// scan: pages by key would silently miss vertices without a usable key, so every node of the label is checked once.
MATCH (v:Page)
RETURN count(*) AS nodes,
       count(CASE WHEN v.id IS :: INTEGER NOT NULL THEN 1 END) AS integers,
       count(CASE WHEN v.id IS :: STRING NOT NULL THEN 1 END) AS strings,
       count(CASE WHEN v.id IS NULL THEN 1 END) AS missing,
       min(CASE WHEN v.id IS :: INTEGER NOT NULL THEN v.id END) AS integerExample,
       min(CASE WHEN v.id IS :: STRING NOT NULL THEN v.id END) AS stringExample,
       min(CASE WHEN v.id IS NULL THEN elementId(v) END) AS missingExample,
       max(CASE WHEN v.id IS NULL THEN keys(v) END) AS missingHas,
       min(CASE
         WHEN v.id IS NOT NULL AND NOT v.id IS :: INTEGER NOT NULL AND NOT v.id IS :: STRING NOT NULL
         THEN valueType(v.id) + ' ' + coalesce(toStringOrNull(v.id), 'on the node with elementId ' + elementId(v))
       END) AS example
