// The values that a property of the chosen vertices has already.
//
// names:
//   Person  labels    all chosen labels
//   id      property  the key property
//   noisy   property  the property asked about
// returns:
//   key    integer|string  the vertex
//   value  any             its value
// scan: a property that somebody else may have set on any vertex has no index.
MATCH (v:Person)
WHERE v.noisy IS NOT NULL
RETURN v.id AS key, v.noisy AS value
