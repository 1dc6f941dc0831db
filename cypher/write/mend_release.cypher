// Put values of their kinds into the place of a damaged record, in the transaction that has found it.
//
// parameters:
//   $element  string  identifies the node within this transaction
//   $values   map     all that it is to have
// returns:
//   mended  integer  1, or 0 where it is gone
// repeatable: it sets the same again.
MATCH (release:PCohesionRelease)
WHERE elementId(release) = $element
SET release = $values
SET release.at = coalesce(release.at, datetime())
RETURN count(release) AS mended
