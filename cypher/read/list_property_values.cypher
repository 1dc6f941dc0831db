// The values of a property of the chosen vertices.
//
// names:
//   Person  labels    all chosen labels
//   id      property  the key property
//   noisy   property  the property
// returns:
//   key    integer|string  the vertex
//   value  any             its value
// scan: any vertex may have the property, and no index covers it.
MATCH (v:Person)
WHERE v.noisy IS NOT NULL
RETURN v.id AS key, v.noisy AS value
