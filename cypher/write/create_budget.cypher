// Record a total set by the owner, in the transaction that holds the graph's lock.
//
// parameters:
//   $graph    string       name of the graph
//   $number   integer 1..  larger than those of all its totals
//   $epsilon  string       total ε as a canonical fraction a/b
//   $delta    string       total δ as a canonical fraction a/b
//   $who      string       the operating-system user
// returns:
//   created  integer  1
// repeatable: a second record of the same total does not change the budget.
CREATE (budget:PCohesionBudget {graph: $graph, number: $number, epsilon: $epsilon, delta: $delta, who: $who,
                                at: datetime()})
RETURN count(budget) AS created
