// Record what an owner did to the ledger by hand, in the transaction that does it.
//
// parameters:
//   $kind     string        forgotten, mended, same or apart; cleaned, for runs
//   $graph    string        name of the graph
//   $other    string|null   another graph's name, for same and apart
//   $what     string        a sentence
//   $records  list<string>  what was let go or changed, as JSON, one record each
//   $who      string        the operating-system user
// returns:
//   created  integer  1
// repeatable: a second note repeats the first.
CREATE (note:PCohesionNote {kind: $kind, graph: $graph, other: $other, what: $what, records: $records, who: $who,
                            at: datetime()})
RETURN count(note) AS created
