// The hubs that a writer has added to a run for its next version, and those it has retired.
//
// parameters:
//   $run   string   the run
//   $next  integer  the next version
// returns:
//   added    integer  hubs added
//   retired  integer  hubs retired
OPTIONAL MATCH (new:PCohesion {run: $run, from: $next})
WITH count(new) AS added
OPTIONAL MATCH (old:PCohesionRetired {run: $run, until: $next})
RETURN added, count(old) AS retired
