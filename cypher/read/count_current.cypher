// The hubs that a version of a run has.
//
// parameters:
//   $run      string   the run
//   $version  integer  the version
// returns:
//   cohesions    integer  hubs
//   memberships  integer  their members, as they were written
MATCH (cohesion:PCohesion {run: $run})
WHERE cohesion.from <= $version AND cohesion.until > $version
RETURN count(cohesion) AS cohesions, sum(cohesion.size) AS memberships
