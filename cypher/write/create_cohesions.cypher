// Write hubs and their memberships for the next version of a run.
//
// names:
//   Person  labels    all chosen labels
//   id      property  the key property
// parameters:
//   $run      string     the run
//   $version  integer    the first version that has them
//   $p        float      for filtering
//   $search   string     name of the search
//   $rows     list<map>  vertex, size, edges, density, proven, best, owner, digest, members (keys); some 20,000 memberships
// returns:
//   cohesions    integer  hubs written
//   memberships  integer  memberships written
// repeatable: one transaction behind a fence; a failed transaction leaves nothing behind.
UNWIND $rows AS row
MATCH (vertex:Person {id: row.vertex})
CREATE (vertex)-[:HAS_COHESION]->(cohesion:PCohesion {
  run: $run, from: $version, until: 9007199254740991, p: $p, search: $search, size: row.size, edges: row.edges,
  density: row.density, proven: row.proven, best: row.best, owner: row.owner, digest: row.digest
})
WITH row, cohesion
UNWIND row.members AS key
MATCH (member:Person {id: key})
CREATE (member)-[:IN_COHESION]->(cohesion)
RETURN count(DISTINCT cohesion) AS cohesions, count(*) AS memberships
