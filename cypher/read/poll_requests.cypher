// How many requests there are of any status, and those that may be claimed now, by lane: first come, first served, and
// after them those that were returned to the queue because they have to wait for others.
//
// parameters:
//   $limit      integer 1..   most requests of each list
//   $ahead      integer       seconds: no pause and no lease that a service writes reaches further
//   $small      integer 1..   most vertices of a small request
//   $elsewhere  list<string>  graphs whose requests are left to other services
//   $graphs     list<string>  graphs that this service is responsible for: it never leaves their runs to others
// returns:
//   requests   integer     from the count store: if it grew, there are new ones
//   open       boolean     whether any is waiting or running, due or not
//   cancelled  list<list>  id and graph of those that their authors have cancelled
//   small      list<list>  id and graph of those for single vertices, for one run to check, and those that cannot be right
//   large      list<list>  id and graph of the others
MATCH (any:PCohesionRequest)
WITH count(any) AS requests
WITH requests, datetime() AS now, datetime() + duration({seconds: $ahead}) AS horizon
OPTIONAL MATCH (request:PCohesionRequest)
WHERE request.status IN ['requested', 'running']
  AND valueType(request.id) IN ['STRING NOT NULL', 'INTEGER NOT NULL']
  AND NOT CASE
    WHEN request.graph IS NOT NULL THEN request.graph IN $elsewhere
    ELSE any(name IN $elsewhere WHERE coalesce(request.run STARTS WITH name + '@', false))
      AND none(name IN $graphs WHERE coalesce(request.run STARTS WITH name + '@', false))
  END
WITH requests, request,
     request.status = 'requested' AND NOT coalesce(now < request.notBefore < horizon, false)
       OR request.status = 'running' AND NOT coalesce(now < request.leaseUntil < horizon, false)
       OR request.status = 'requested' AND coalesce(request.cancel = true, false) AS due,
     CASE WHEN valueType(request.graph) STARTS WITH 'STRING' THEN left(request.graph, 1000) END AS graph,
     CASE
       WHEN request.cancel = true THEN 'cancelled'
       WHEN request.command = 'annotate' AND request.vertices IS NULL THEN 'large'
       WHEN request.command = 'annotate' AND valueType(request.vertices) STARTS WITH 'LIST'
         THEN CASE WHEN size(request.vertices) > $small THEN 'large' ELSE 'small' END
       WHEN request.command = 'check' AND request.run IS NULL THEN 'large'
       WHEN request.command = 'clean' THEN 'large'
       ELSE 'small'
     END AS lane
// The last number of an element's identifier grows as nodes are created, unless that of a deleted one is taken again.
ORDER BY request.busySince IS NOT NULL, request.requestedAt, toInteger(last(split(elementId(request), ':')))
RETURN requests,
       count(request) > 0 AS open,
       collect(CASE WHEN due AND lane = 'cancelled' THEN [request.id, graph] END)[..$limit] AS cancelled,
       collect(CASE WHEN due AND lane = 'small' THEN [request.id, graph] END)[..$limit] AS small,
       collect(CASE WHEN due AND lane = 'large' THEN [request.id, graph] END)[..$limit] AS large
