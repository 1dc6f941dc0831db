// Fail requests that no service is working on, in the transaction that has locked them.
//
// parameters:
//   $ids      list     the requests
//   $message  string   why
//   $ahead    integer  seconds: no lease that a service writes reaches further
// returns:
//   refused  integer  how many of them no service was working on
// repeatable: a failed request is no longer waiting.
UNWIND $ids AS id
MATCH (request:PCohesionRequest {id: id})
USING INDEX SEEK request:PCohesionRequest(id)
WITH request, datetime() AS now, datetime() + duration({seconds: $ahead}) AS horizon
WHERE request.status = 'requested'
   OR request.status = 'running' AND NOT coalesce(now < request.leaseUntil < horizon, false)
SET request.status = 'failed',
    request.message = $message,
    request.finishedAt = datetime(),
    request.token = null,
    request.leaseUntil = null
RETURN count(request) AS refused
