// How many requests have each status, and how long ago the oldest was created; new requests without a status are waiting too.
//
// returns:
//   status   string        the status
//   number   integer       how many
//   seconds  integer|null  age of the oldest, by its own time if that is valid
// scan: a new request without a status is in no index; at most as many answers are kept as the owner allows.
MATCH (request:PCohesionRequest)
WITH coalesce(request.status, 'requested') AS status,
     CASE
       WHEN datetime({epochSeconds: 0}) <= request.requestedAt <= datetime()
         THEN datetime().epochSeconds - request.requestedAt.epochSeconds
     END AS waited
WHERE status IN ['requested', 'running', 'complete', 'failed', 'cancelled']
RETURN status, count(*) AS number, max(waited) AS seconds
