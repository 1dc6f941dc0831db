// Enter the totals and releases of one graph under the name of another, in the transaction that holds its lock.
//
// parameters:
//   $graph  string       their present name
//   $to     string       their new name
//   $add    integer 0..  added to the numbers of the totals, to put them before or after the other graph's
// returns:
//   moved  integer  records
// repeatable: a second run finds nothing under the first name.
CALL () {
  MATCH (budget:PCohesionBudget {graph: $graph})
  SET budget.graph = $to,
      budget.number = budget.number + $add
  RETURN count(*) AS moved
  UNION ALL
  MATCH (release:PCohesionRelease {graph: $graph})
  SET release.graph = $to
  RETURN count(*) AS moved
}
RETURN sum(moved) AS moved
