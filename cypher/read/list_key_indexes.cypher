// The node properties that an index of their own makes quick to find.
//
// returns:
//   label     string   the label indexed
//   property  string   the property indexed
//   unique    boolean  whether a uniqueness constraint stands behind the index
SHOW INDEXES YIELD state, type, entityType, labelsOrTypes, properties, owningConstraint
WHERE state = 'ONLINE' AND type = 'RANGE' AND entityType = 'NODE' AND size(properties) = 1
RETURN labelsOrTypes[0] AS label, properties[0] AS property, owningConstraint IS NOT NULL AS unique
