// The vertices whose current cohesion in a run has a member that is no longer a vertex of the graph.
//
// names:
//   Person  labels    all chosen labels
//   id      property  the key property
// parameters:
//   $run      string   the run
//   $version  integer  the version that readers go by
// returns:
//   vertices  list<integer|string>  each once
MATCH (stray:PCohesion {run: $run})
WHERE stray.from <= $version AND stray.until > $version AND NOT EXISTS { (:Person)-[:HAS_COHESION]->(stray) }
MATCH (stray)<-[:HAS_COHESION]-()-[:IN_COHESION]->(cohesion:PCohesion {run: $run})<-[:HAS_COHESION]-(vertex:Person)
WHERE cohesion.from <= $version AND cohesion.until > $version
RETURN collect(DISTINCT vertex.id) AS vertices
