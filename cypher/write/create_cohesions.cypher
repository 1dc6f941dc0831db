// Write hubs and their memberships for one run.
//
// names:
//   Person  labels    all chosen labels
//   id      property  the key property
// parameters:
//   $run    string     the run
//   $p      float      for filtering
//   $score  string     density or degree
//   $rows   list<map>  vertex, size, edges, density, members (keys); about 20,000 memberships a transaction
// returns:
//   cohesions    integer  hubs written
//   memberships  integer  memberships written
// repeatable: one transaction under a fresh run identifier; a failure leaves nothing behind.
UNWIND $rows AS row
MATCH (owner:Person {id: row.vertex})
CREATE (owner)-[:HAS_COHESION]->(cohesion:PCohesion {
  run: $run, p: $p, score: $score, size: row.size, edges: row.edges, density: row.density
})
WITH row, cohesion
UNWIND row.members AS key
MATCH (member:Person {id: key})
CREATE (member)-[:IN_COHESION]->(cohesion)
RETURN count(DISTINCT cohesion) AS cohesions, count(*) AS memberships
