// Record what is left of a run of single vertices after a later run replaced some of its hubs.
//
// parameters:
//   $run             string   the run
//   $memberships     integer  memberships left
//   $membershipHash  string   hash of the memberships left
//   $status          string   complete, or replaced if nothing is left
// returns:
//   updated  integer  1
// repeatable: sets the same values again.
MATCH (run:PCohesionRun {id: $run})
SET run.memberships = $memberships,
    run.membershipHash = $membershipHash,
    run.status = $status
RETURN count(run) AS updated
