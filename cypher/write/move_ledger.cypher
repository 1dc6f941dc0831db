// Move the totals and releases of one graph to the name of another, in the transaction that holds its lock.
//
// parameters:
//   $graph  string       the name that they have
//   $to     string       the name that they get
//   $add    integer 0..  added to the numbers of totals, so that those of the other graph come before or after
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
