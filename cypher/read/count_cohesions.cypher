// Hubs of one run.
//
// parameters:
//   $run  string  the run
// returns:
//   cohesions  integer  0..
MATCH (cohesion:PCohesion {run: $run})
RETURN count(*) AS cohesions
