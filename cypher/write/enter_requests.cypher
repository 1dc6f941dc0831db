// Put new requests into the queue: each gets a status, the time, and an identifier if it has no valid one.
//
// parameters:
//   $skip      integer 0..  how many to skip because other transactions hold them
//   $limit     integer 1..  most requests to enter
//   $statuses  list         every status there is
//   $message   string       for a request whose status is not one of them
// returns:
//   entered  integer  how many were found
// repeatable: a request that was entered is not found again.
// scan: a request without a status is in no index; at most as many answers are kept as the owner allows.
MATCH (request:PCohesionRequest)
WHERE request.status IS NULL
   OR NOT request.status IN $statuses
   OR request.status = 'requested'
      AND NOT coalesce(datetime({epochSeconds: 0}) <= request.requestedAt <= datetime(), false)
   OR request.status IN ['requested', 'running']
      AND NOT valueType(request.id) IN ['STRING NOT NULL', 'INTEGER NOT NULL']
WITH request
SKIP $skip
LIMIT $limit
SET request.id = CASE
      WHEN valueType(request.id) IN ['STRING NOT NULL', 'INTEGER NOT NULL'] THEN request.id
      ELSE randomUUID()
    END,
    request.requestedAt = CASE
      WHEN datetime({epochSeconds: 0}) <= request.requestedAt <= datetime()
        THEN request.requestedAt
      ELSE datetime()
    END,
    request.message = CASE
      WHEN request.status IS NULL OR request.status IN $statuses THEN null
      ELSE $message
    END,
    request.finishedAt = CASE
      WHEN request.status IS NULL OR request.status IN $statuses THEN null
      ELSE datetime()
    END,
    request.status = CASE
      WHEN request.status IS NULL OR request.status IN $statuses THEN 'requested'
      ELSE 'failed'
    END
RETURN count(request) AS entered
