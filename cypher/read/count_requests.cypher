// How many requests have each status, and how long ago the oldest was created; new ones without a status wait too.
//
// returns:
//   status   string        the status
//   number   integer       how many
//   seconds  integer|null  age of the oldest, by its own time unless that is to come
// scan: a new request without a status is in no index; at most as many answers are kept as the owner allows.
MATCH (request:PCohesionRequest)
WITH coalesce(request.status, 'requested') AS status,
     CASE
       WHEN valueType(request.requestedAt) = 'ZONED DATETIME NOT NULL' AND request.requestedAt < datetime()
         THEN request.requestedAt
     END AS created
WHERE status IN ['requested', 'running', 'complete', 'failed', 'cancelled']
WITH status, count(*) AS number, min(created) AS oldest
RETURN status, number, duration.inSeconds(oldest, datetime()).seconds AS seconds
