// Record the hash of a release's answers, by which a file of these answers is recognised.
//
// parameters:
//   $release  string  the release
//   $hash     string  hash of keys and answers
// returns:
//   noted  integer  1; 0 where the release is no longer in the ledger
// repeatable: sets one property to the same value.
MATCH (release:PCohesionRelease {id: $release})
SET release.answersHash = $hash
RETURN count(release) AS noted
