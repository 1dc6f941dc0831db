// How many requests there are of any status, and those that may be claimed now, by lane: first come, first served,
// followed by those that have been given back because they have to wait for others.
//
// parameters:
//   $limit      integer 1..   the most requests in each list
//   $ahead      integer       seconds: no pause and no lease that a service writes reaches further
//   $small      integer 1..   the most vertices of a small request
//   $elsewhere  list<string>  graphs whose requests are left to other services
//   $graphs     list<string>  graphs that this service answers for: it never leaves their runs to others
//   $skip       list<integer | string>  requests that are left out, so that they do not fill the lists
//   $busy       list<string>  graphs whose requests are left out, unless their authors have stopped them
// returns:
//   requests   integer     from the count store; when it grows there are new ones
//   open       boolean     whether any waits or is worked on, due or not
//   cancelled  list<list>  id and graph of those that their authors have stopped
//   small      list<list>  the same for those for single vertices, for one run to check, and those that cannot be right
//   large      list<list>  the same for the others
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
       OR request.status = 'requested' AND coalesce(request.cancel = true, false) AS claimable,
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
WITH requests, request, graph, lane,
     claimable AND NOT request.id IN $skip AND (lane = 'cancelled' OR NOT coalesce(graph IN $busy, false)) AS due
// The last number of an element's identifier grows as nodes are created, unless that of a deleted one is taken again.
ORDER BY request.busySince IS NOT NULL, request.requestedAt, toInteger(last(split(elementId(request), ':')))
RETURN requests,
       count(request) > 0 AS open,
       collect(CASE WHEN due AND lane = 'cancelled' THEN [request.id, graph] END)[..$limit] AS cancelled,
       collect(CASE WHEN due AND lane = 'small' THEN [request.id, graph] END)[..$limit] AS small,
       collect(CASE WHEN due AND lane = 'large' THEN [request.id, graph] END)[..$limit] AS large
