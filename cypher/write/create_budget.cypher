// Record a total set by the owner, in the transaction that holds the graph's lock.
//
// parameters:
//   $graph    string  name of the graph
//   $epsilon  string  total ε as a canonical fraction a/b
//   $delta    string  total δ likewise
//   $who      string  the operating-system user
// returns:
//   created  integer  1
// repeatable: a second record of the same total does not change the budget.
OPTIONAL MATCH (earlier:PCohesionBudget {graph: $graph})
WITH count(earlier) AS earlier
CREATE (budget:PCohesionBudget {graph: $graph, number: earlier + 1, epsilon: $epsilon, delta: $delta, who: $who,
                                at: datetime()})
RETURN count(budget) AS created
