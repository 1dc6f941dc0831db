// The vertices whose current cohesions of a run have any of the given vertices as a member.
// A hub gets its name late, so that a plan made before there were hubs begins at the vertices, too.
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
MATCH (:Person {id: key})-[:IN_COHESION]->(hub)
WITH DISTINCT hub AS cohesion
WHERE cohesion:PCohesion AND cohesion.run = $run AND cohesion.from <= $version AND cohesion.until > $version
MATCH (cohesion)<-[:HAS_COHESION]-(vertex:Person)
RETURN collect(DISTINCT vertex.id) AS vertices
