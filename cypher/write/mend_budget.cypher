// Replace the values of a damaged record with valid ones, in the transaction that has found it.
//
// parameters:
//   $element  string  identifies the node within this transaction
//   $values   map     all the values that it should have
// returns:
//   mended  integer  1, or 0 where it is gone
// repeatable: sets the same values again.
MATCH (budget:PCohesionBudget)
WHERE elementId(budget) = $element
SET budget = $values
SET budget.at = coalesce(budget.at, datetime())
RETURN count(budget) AS mended
