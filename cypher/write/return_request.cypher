// Put a request back in its place in the queue, in the transaction that has locked it.
//
// parameters:
//   $id        integer | string  the request
//   $token     string            of the claim
//   $message   string|null       why it is waiting
//   $wait      float             seconds until it is due
//   $attempts  integer           how often it has been tried
//   $busy      boolean           whether it is waiting for others
// returns:
//   returned  integer  1, or 0 where the claim no longer counts
// repeatable: a second time the claim no longer counts.
MATCH (request:PCohesionRequest {id: $id})
WHERE request.token = $token
SET request.status = 'requested',
    request.message = $message,
    request.progress = 0.0,
    request.attempts = $attempts,
    request.notBefore = datetime() + duration({milliseconds: toInteger(1000 * $wait)}),
    request.busySince = CASE
      WHEN $busy AND datetime({epochSeconds: 0}) <= request.busySince <= datetime()
        THEN request.busySince
      WHEN $busy THEN datetime()
    END,
    request.token = null,
    request.leaseUntil = null
RETURN count(request) AS returned
