// Index totals by the name of their graph.
CREATE INDEX IF NOT EXISTS
FOR (budget:PCohesionBudget)
ON (budget.graph)
