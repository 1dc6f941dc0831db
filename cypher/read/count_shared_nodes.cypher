// Nodes that carry a label of each of two graphs: none, one, or two, which stands for two or more.
//
// names:
//   Person  labels  labels of one graph
//   Robot   labels  labels of the other
// returns:
//   shared  integer  0, 1 or 2
// scan: all nodes of the first graph if the two share none; no index covers two labels.
MATCH (v:Person)
WHERE v:Robot
WITH v
LIMIT 2
RETURN count(v) AS shared
