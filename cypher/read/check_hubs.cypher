// How many hubs of a run are not as a writer leaves them.
//
// parameters:
//   $run      string   the run
//   $version  integer  the version that readers go by
// returns:
//   unfinished  integer  hubs that came with a version that never came, or were retired by one
//   torn        integer  current hubs whose number of memberships is not the one they were written with
//   astray      integer  current hubs that are not the cohesion of exactly one vertex
//   changed     integer  current hubs that lack what a writer compares, or have it as a value of another kind
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
       count(CASE WHEN current AND (
                      [valueType(cohesion.size), valueType(cohesion.edges), valueType(cohesion.owner),
                       valueType(cohesion.proven), valueType(cohesion.best), valueType(cohesion.digest)] <>
                      ['INTEGER NOT NULL', 'INTEGER NOT NULL', 'INTEGER NOT NULL',
                       'BOOLEAN NOT NULL', 'BOOLEAN NOT NULL', 'STRING NOT NULL']) THEN 1 END) AS changed,
       count(CASE WHEN (cohesion.until < 9007199254740991) <> (cohesion:PCohesionRetired) THEN 1 END) AS unmarked
