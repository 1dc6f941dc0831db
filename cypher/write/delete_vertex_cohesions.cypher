// Delete the hubs that one run has for some vertices.
//
// names:
//   Person  labels    all chosen labels
//   id      property  the key property
// parameters:
//   $run   string                the run
//   $keys  list<integer|string>  the vertices whose hubs go
// returns:
//   deleted  integer  hubs deleted
// repeatable: a second run finds nothing to delete.
UNWIND $keys AS key
MATCH (:Person {id: key})-[:HAS_COHESION]->(cohesion:PCohesion {run: $run})
DETACH DELETE cohesion
RETURN count(*) AS deleted
