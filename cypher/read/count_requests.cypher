// How many requests have each status, and how long the oldest has waited.
//
// returns:
//   status   string        the status
//   number   integer       how many
//   seconds  integer|null  age of the oldest
MATCH (request:PCohesionRequest)
WHERE request.status IN ['requested', 'running', 'complete', 'failed', 'cancelled']
WITH request.status AS status, count(*) AS number, min(request.requestedAt) AS oldest
RETURN status, number, duration.inSeconds(oldest, datetime()).seconds AS seconds
