// The range indexes on node properties that are ready to use.
//
// returns:
//   label       string        the label indexed
//   properties  list<string>  the properties indexed, in order
//   unique      boolean       whether a uniqueness constraint stands behind the index
SHOW INDEXES YIELD state, type, entityType, labelsOrTypes, properties, owningConstraint
WHERE state = 'ONLINE' AND type = 'RANGE' AND entityType = 'NODE'
RETURN labelsOrTypes[0] AS label, properties, owningConstraint IS NOT NULL AS unique
