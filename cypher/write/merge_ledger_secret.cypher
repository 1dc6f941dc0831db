// Lock the ledger, and return the secret under which the keys of released graphs are hashed, or store a new one.
//
// parameters:
//   $secret  string  64 hexadecimal digits, used if none is stored yet
// returns:
//   secret  string  as stored
// repeatable: MERGE on a unique name; a secret that is already stored stays as it is.
MERGE (ledger:PCohesionLedger {name: 'ledger'})
SET ledger.secret = coalesce(toStringOrNull(ledger.secret), $secret)
RETURN ledger.secret AS secret
