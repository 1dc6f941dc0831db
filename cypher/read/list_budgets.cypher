// The totals set by owners, by graph and oldest first; the last total of a graph counts.
//
// returns:
//   graph    string    name of the graph
//   epsilon  string    total ε as a canonical fraction a/b
//   delta    string    total δ likewise
//   who      string    the operating-system user who set it
//   at       datetime  server time
MATCH (budget:PCohesionBudget)
WHERE budget.graph IS NOT NULL
RETURN budget.graph AS graph, budget.epsilon AS epsilon, budget.delta AS delta, budget.who AS who, budget.at AS at
ORDER BY graph, coalesce(budget.number, 0), at
