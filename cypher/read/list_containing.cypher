// The vertices whose current cohesion in a run has any of the given vertices as a member.
//
// names:
//   Person  labels    all chosen labels
//   id      property  the key property
// parameters:
//   $run      string                the run
//   $version  integer               the version that readers go by
//   $keys     list<integer|string>  the members
// returns:
//   vertices  list<integer|string>  each once
UNWIND $keys AS key
MATCH (:Person {id: key})-[:IN_COHESION]->(cohesion:PCohesion {run: $run})<-[:HAS_COHESION]-(vertex:Person)
WHERE cohesion.from <= $version AND cohesion.until > $version
RETURN collect(DISTINCT vertex.id) AS vertices
