// How many requests there are of any status, and those that may be claimed now: the oldest first, and behind them those
// that have been given back because they have to wait for others.
//
// parameters:
//   $limit  integer 1..  most identifiers
//   $ahead  integer      seconds: no pause and no lease that a service writes reaches further
// returns:
//   requests  integer                 from the count store: whether it grew tells of new ones
//   ids       list<integer | string>  waiting and due, or with a lease that has run out
MATCH (any:PCohesionRequest)
WITH count(any) AS requests
WITH requests, datetime() AS now, datetime() + duration({seconds: $ahead}) AS horizon
OPTIONAL MATCH (request:PCohesionRequest)
WHERE request.status IN ['requested', 'running']
  AND valueType(request.id) IN ['STRING NOT NULL', 'INTEGER NOT NULL']
  AND (request.status = 'requested' AND NOT coalesce(now < request.notBefore < horizon, false)
       OR request.status = 'running' AND NOT coalesce(now < request.leaseUntil < horizon, false)
       OR request.status = 'requested' AND coalesce(request.cancel = true, false))
WITH requests, request
ORDER BY request.busySince IS NOT NULL, request.requestedAt, request.id
LIMIT $limit
RETURN requests, collect(request.id) AS ids
