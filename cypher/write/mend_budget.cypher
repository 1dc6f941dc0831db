// Put values of their kinds into the place of a damaged record, in the transaction that has found it.
//
// parameters:
//   $element  string  identifies the node within this transaction
//   $values   map     all that it is to have
// returns:
//   mended  integer  1, or 0 where it is gone
// repeatable: it sets the same again.
MATCH (budget:PCohesionBudget)
WHERE elementId(budget) = $element
SET budget = $values
SET budget.at = coalesce(budget.at, datetime())
RETURN count(budget) AS mended
