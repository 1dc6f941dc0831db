// Assign a request to a worker for the time of a lease, in the transaction that has locked it.
//
// parameters:
//   $id        integer | string  the request
//   $worker    string            name of the worker
//   $token     string            random, identifies this claim
//   $attempts  integer           how often it has been tried, this time included
//   $lease     integer           seconds
// returns:
//   claimed  integer  1, or 0 where it is gone
// repeatable: sets the same values again, under a lock.
MATCH (request:PCohesionRequest {id: $id})
SET request.status = 'running',
    request.worker = $worker,
    request.token = $token,
    request.attempts = $attempts,
    request.leaseUntil = datetime() + duration({seconds: $lease}),
    request.startedAt = datetime(),
    request.progress = 0.0,
    request.message = null,
    request.notBefore = null
RETURN count(request) AS claimed
