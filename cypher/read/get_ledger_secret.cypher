// The secret under which the keys of released graphs are hashed.
//
// returns:
//   secret  string|null  no row if there has been no release yet
MATCH (ledger:PCohesionLedger {name: 'ledger'})
RETURN toStringOrNull(ledger.secret) AS secret
