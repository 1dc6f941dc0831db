// How many hubs a run has, those of earlier versions and unfinished ones included.
//
// parameters:
//   $run  string  the run
// returns:
//   hubs  integer  how many
MATCH (cohesion:PCohesion {run: $run})
RETURN count(cohesion) AS hubs
