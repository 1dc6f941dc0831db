// Index the key property of one chosen label, so that vertices are found without a scan.
//
// names:
//   pcneo_key  index     its name, by which `clean --everything` finds it
//   Page       label     one of the chosen labels
//   id         property  the key property
CREATE INDEX pcneo_key IF NOT EXISTS
FOR (v:Page)
ON (v.id)
