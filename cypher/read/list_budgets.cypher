// Every total that was set, as it stands; the reader decides which are sound.
//
// returns:
//   element     string  identifies the node within this transaction
//   properties  map     all that it has
// scan: a total that has lost its graph is one to know of, and no index has it.
MATCH (budget:PCohesionBudget)
RETURN elementId(budget) AS element, properties(budget) AS properties
