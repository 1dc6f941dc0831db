// Replace the values of a damaged record with valid ones, in the transaction that has found it.
//
// parameters:
//   $element  string  identifies the node within this transaction
//   $values   map     all the values that it should have
// returns:
//   mended  integer  1, or 0 where it is gone
// repeatable: sets the same values again.
MATCH (release:PCohesionRelease)
WHERE elementId(release) = $element
SET release = $values
SET release.at = coalesce(release.at, datetime())
RETURN count(release) AS mended
