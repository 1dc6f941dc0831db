// Delete every total and every release of one graph, in the transaction that holds its lock.
//
// parameters:
//   $graph  string  name of the graph
// returns:
//   forgotten  integer  records deleted
// repeatable: a second run finds nothing to delete.
CALL () {
  MATCH (budget:PCohesionBudget {graph: $graph})
  DETACH DELETE budget
  RETURN count(*) AS gone
  UNION ALL
  MATCH (release:PCohesionRelease {graph: $graph})
  DETACH DELETE release
  RETURN count(*) AS gone
}
RETURN sum(gone) AS forgotten
