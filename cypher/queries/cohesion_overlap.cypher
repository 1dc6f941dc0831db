// Compare the cohesions of two vertices: their sizes and the members they share.
//
// names:
//   Person  labels    the chosen labels
//   id      property  the key property
// parameters:
//   $run      string            id of a standing run
//   $id       integer | string  key of one vertex
//   $otherId  integer | string  key of the other vertex
// returns:
//   size       integer                 members of the first cohesion
//   otherSize  integer                 members of the second
//   shared     integer                 members of both
//   jaccard    float                   shared members divided by members of either
//   members    list<integer | string>  keys of the shared members, ascending
// cost: HepPh, p=0.1, by density: one row, in 4 ms; 10 ms for the largest cohesions, with about 140 members.
MATCH (run:PCohesionRun {id: $run})
WITH run.version AS version
MATCH (:Person {id: $id})-[:HAS_COHESION]->(c:PCohesion {run: $run})
WHERE c.from <= version < c.until
MATCH (:Person {id: $otherId})-[:HAS_COHESION]->(d:PCohesion {run: $run})
WHERE d.from <= version < d.until
OPTIONAL MATCH (c)<-[:IN_COHESION]-(m)
WHERE EXISTS { (m)-[:IN_COHESION]->(d) }
WITH c, d, m
ORDER BY m.id
WITH c.size AS size, d.size AS otherSize, collect(m.id) AS members
WITH size, otherSize, size(members) AS shared, members
RETURN size, otherSize, shared, toFloat(shared) / (size + otherSize - shared) AS jaccard, members
