// What a request says, in the transaction that has locked it; values that are too long or no scalars stay behind.
//
// parameters:
//   $id        integer | string  the request
//   $names     list              the properties that a request may have
//   $longest   integer           characters of a text
//   $most      integer           items of a list
// returns:
//   status     string|null        requested or running, where it may be claimed
//   claimable  boolean            whether it waits and is due, or has a lease that has run out
//   cancel     boolean            whether its author wants it stopped
//   attempts   integer            how often it was tried
//   token      string|null        of its last worker
//   busy       integer            seconds since it was first found that its graph was busy
//   names      list<string>       names of its properties, the first hundred
//   kinds      list<string>       kind of each value, in the order of $names
//   values     list<any>          the values
MATCH (request:PCohesionRequest {id: $id})
WITH request, datetime() AS now
RETURN request.status AS status,
       request.status = 'requested' AND NOT coalesce(request.notBefore > now, false)
         OR request.status = 'requested' AND coalesce(request.cancel = true, false)
         OR request.status = 'running' AND NOT coalesce(request.leaseUntil > now, false) AS claimable,
       coalesce(request.cancel = true, false) AS cancel,
       CASE WHEN valueType(request.attempts) = 'INTEGER NOT NULL' THEN request.attempts ELSE 0 END AS attempts,
       CASE WHEN valueType(request.token) = 'STRING NOT NULL' THEN request.token END AS token,
       CASE
         WHEN valueType(request.busySince) = 'ZONED DATETIME NOT NULL'
           THEN duration.inSeconds(request.busySince, now).seconds
         ELSE 0
       END AS busy,
       keys(request)[..100] AS names,
       [name IN $names | valueType(request[name])] AS kinds,
       [name IN $names |
         CASE
           WHEN valueType(request[name]) STARTS WITH 'STRING' AND size(request[name]) <= $longest THEN request[name]
           WHEN valueType(request[name]) STARTS WITH 'LIST'
                AND size(request[name]) <= $most
                AND all(item IN request[name] WHERE NOT valueType(item) STARTS WITH 'STRING' OR size(item) <= $longest)
             THEN request[name]
           WHEN valueType(request[name]) IN ['INTEGER NOT NULL', 'FLOAT NOT NULL', 'BOOLEAN NOT NULL']
             THEN request[name]
         END
       ] AS values
