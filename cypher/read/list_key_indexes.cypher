// The node properties with a single-property range index.
//
// returns:
//   label     string   the label indexed
//   property  string   the property indexed
//   unique    boolean  whether the index belongs to a uniqueness constraint
SHOW INDEXES YIELD state, type, entityType, labelsOrTypes, properties, owningConstraint
WHERE state = 'ONLINE' AND type = 'RANGE' AND entityType = 'NODE' AND size(properties) = 1
RETURN labelsOrTypes[0] AS label, properties[0] AS property, owningConstraint IS NOT NULL AS unique
