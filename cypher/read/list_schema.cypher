// The constraints and indexes whose names or labels are pcneo's.
//
// returns:
//   name           string   of the index, and of the constraint behind it
//   label          string   the label
//   is_constraint  boolean  whether a constraint stands behind it
SHOW INDEXES YIELD name, entityType, type, labelsOrTypes, owningConstraint
WHERE entityType = 'NODE'
  AND type <> 'LOOKUP'
  AND (labelsOrTypes[0] STARTS WITH 'PCohesion' OR name STARTS WITH 'pcneo_')
RETURN name, labelsOrTypes[0] AS label, owningConstraint IS NOT NULL AS is_constraint
