// How many hubs of a run are not in the state in which a writer leaves them.
//
// parameters:
//   $run      string   the run
//   $version  integer  the version that readers go by
// returns:
//   unfinished  integer  hubs that were written for a version that was never completed, or retired by one
//   torn        integer  current hubs whose number of memberships is not the one they were written with
//   astray      integer  current hubs that are not the cohesion of exactly one vertex
//   unmarked    integer  hubs retired without their second label, or with it and not retired
MATCH (cohesion:PCohesion {run: $run})
WITH cohesion,
     cohesion.from <= $version AND cohesion.until > $version AS current,
     COUNT { (cohesion)<-[:IN_COHESION]-() } AS memberships,
     COUNT { (cohesion)<-[:HAS_COHESION]-() } AS owners
RETURN count(CASE WHEN cohesion.from > $version
                    OR cohesion.until > $version AND cohesion.until < 9007199254740991 THEN 1 END) AS unfinished,
       count(CASE WHEN current AND memberships <> cohesion.size THEN 1 END) AS torn,
       count(CASE WHEN current AND owners <> 1 THEN 1 END) AS astray,
       count(CASE WHEN (cohesion.until < 9007199254740991) <> (cohesion:PCohesionRetired) THEN 1 END) AS unmarked
