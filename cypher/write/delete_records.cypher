// Delete the whole ledger: totals, releases, notes and the node with its secret.
//
// parameters:
//   $limit  integer 1..  most that one transaction deletes
// returns:
//   deleted  integer  how many; 0 when none is left
// repeatable: what is gone is not found again.
// scan: all of them are deleted; only `pcneo clean --everything --ledger` runs this.
CALL () {
  MATCH (record:PCohesionBudget)
  RETURN record
  UNION ALL
  MATCH (record:PCohesionRelease)
  RETURN record
  UNION ALL
  MATCH (record:PCohesionNote)
  RETURN record
  UNION ALL
  MATCH (record:PCohesionLedger)
  RETURN record
}
WITH record
LIMIT $limit
DETACH DELETE record
RETURN count(*) AS deleted
