// Return the secret under which the keys of released graphs are hashed, or store one.
//
// parameters:
//   $secret  string  64 hexadecimal digits, used where there is none
// returns:
//   secret  string  as stored
// repeatable: MERGE on a unique name; a text that is there already stays as it is.
MERGE (ledger:PCohesionLedger {name: 'ledger'})
SET ledger.secret = coalesce(toStringOrNull(ledger.secret), $secret)
RETURN ledger.secret AS secret
