// The hubs of a run that one of two versions has and the other does not.
//
// names:
//   Person  labels    all chosen labels
//   id      property  the key property
// parameters:
//   $run     string   the run
//   $before  integer  a version that is kept
//   $after   integer  another kept version
// returns:
//   vertex   integer|string|null        the vertex whose cohesion it is; null where it is gone
//   later    boolean                    whether the version `after` has it
//   edges    integer 0..                the graph's edges inside
//   best     boolean                    whether no p-cohesion of a better rank contained the vertex
//   members  list<integer|string|null>  in no order; null for a member that has lost its key
MATCH (cohesion:PCohesion {run: $run})
WITH cohesion, cohesion.from <= $before AND cohesion.until > $before AS earlier,
     cohesion.from <= $after AND cohesion.until > $after AS later
WHERE earlier <> later
RETURN [(vertex:Person)-[:HAS_COHESION]->(cohesion) | vertex.id][0] AS vertex,
       later,
       cohesion.edges AS edges,
       cohesion.best AS best,
       [(member:Person)-[:IN_COHESION]->(cohesion) | member.id] AS members
