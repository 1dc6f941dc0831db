// Index totals by the name of their graph.
CREATE INDEX pcneo_budget_graph IF NOT EXISTS
FOR (budget:PCohesionBudget)
ON (budget.graph)
