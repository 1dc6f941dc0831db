// The newest of the waiting requests, those beyond the number that may wait.
//
// parameters:
//   $waiting  integer 0..  how many may wait
//   $limit    integer 1..  most identifiers
// returns:
//   ids  list<integer | string>  the requests
MATCH (request:PCohesionRequest)
WHERE request.status = 'requested' AND valueType(request.id) IN ['STRING NOT NULL', 'INTEGER NOT NULL']
WITH request
ORDER BY request.requestedAt, toInteger(last(split(elementId(request), ':')))  // as created
SKIP $waiting
LIMIT $limit
RETURN collect(request.id) AS ids
