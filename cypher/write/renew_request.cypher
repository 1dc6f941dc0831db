// Renew a worker's lease and record its progress, in the transaction that has locked the request.
//
// parameters:
//   $id        integer | string  the request
//   $token     string            of the claim
//   $lease     integer           seconds
//   $progress  float             0 to 1
// returns:
//   renewed  integer  1, or 0 where the claim no longer counts
// repeatable: sets the same values again.
MATCH (request:PCohesionRequest {id: $id})
WHERE request.token = $token
SET request.leaseUntil = datetime() + duration({seconds: $lease}),
    request.progress = $progress
RETURN count(request) AS renewed
