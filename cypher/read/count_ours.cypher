// How many of pcneo's records are in the database, by kind; from the count store.
//
// returns:
//   hubs         integer  cohesions
//   memberships  integer  members of cohesions
//   runs         integer  standing runs, including those without a version
//   requests     integer  of any status
//   graphs       integer  graphs that pcneo knows
//   fences       integer  of these graphs
RETURN COUNT { MATCH (:PCohesion) } AS hubs,
       COUNT { MATCH ()-[:IN_COHESION]->() } AS memberships,
       COUNT { MATCH (:PCohesionRun) } AS runs,
       COUNT { MATCH (:PCohesionRequest) } AS requests,
       COUNT { MATCH (:PCohesionGraph) } AS graphs,
       COUNT { MATCH (:PCohesionFence) } AS fences
