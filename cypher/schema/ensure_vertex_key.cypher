// Make the key property of one label unique, so that vertices are found without a scan and never loaded twice.
//
// names:
//   Page    label     the label of the vertices loaded
//   id      property  the key property
CREATE CONSTRAINT IF NOT EXISTS
FOR (v:Page)
REQUIRE v.id IS UNIQUE
