// Index the key property of one chosen label, so that vertices are found without a scan.
//
// names:
//   Page    label     one of the chosen labels
//   id      property  the key property
CREATE INDEX IF NOT EXISTS
FOR (v:Page)
ON (v.id)
