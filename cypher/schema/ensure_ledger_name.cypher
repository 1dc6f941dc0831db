// Make the one node with the ledger's secret unique.
CREATE CONSTRAINT pcneo_ledger_name IF NOT EXISTS
FOR (ledger:PCohesionLedger)
REQUIRE ledger.name IS UNIQUE
