// The properties of a request, in the transaction that has locked it, with the kind of each value: anyone who may write
// to the database may have written any of them. Values that are too long, or neither scalars nor lists of scalars, are
// left out.
//
// parameters:
//   $id        integer | string  the request
//   $names     list              the properties that a request may have
//   $longest   integer           most characters of a text
//   $most      integer           most items of a list
//   $ahead     integer           seconds: no pause and no lease that a service writes reaches further
// returns:
//   status     string|null        requested or running, where it may be claimed
//   claimable  boolean            whether it is waiting and due, or has a lease that has run out
//   cancel     boolean            whether its author wants it stopped
//   attempts   integer            how often it has been tried, if the value is plausible
//   token      string|null        of its last worker, unless another running request has the same
//   busy       integer            seconds since it first had to wait for others, if the value is plausible
//   names      list<string>       names of its properties, the first hundred
//   kinds      list<string>       kind of each value, in the order of $names
//   values     list<any>          the values
MATCH (request:PCohesionRequest {id: $id})
WITH request, datetime() AS now, datetime() + duration({seconds: $ahead}) AS horizon
RETURN CASE WHEN request.status IN ['requested', 'running'] THEN request.status END AS status,
       request.status = 'requested' AND NOT coalesce(now < request.notBefore < horizon, false)
         OR request.status = 'requested' AND coalesce(request.cancel = true, false)
         OR request.status = 'running' AND NOT coalesce(now < request.leaseUntil < horizon, false) AS claimable,
       coalesce(request.cancel = true, false) AS cancel,
       CASE WHEN valueType(request.attempts) = 'INTEGER NOT NULL' THEN request.attempts ELSE 0 END AS attempts,
       CASE
         WHEN valueType(request.token) = 'STRING NOT NULL' AND NOT EXISTS {
           MATCH (other:PCohesionRequest {status: 'running'})
           WHERE other.token = request.token AND other.id <> request.id
         }
           THEN left(request.token, $longest)
       END AS token,
       CASE
         WHEN datetime({epochSeconds: 0}) <= request.busySince <= now
           THEN now.epochSeconds - request.busySince.epochSeconds
         ELSE 0
       END AS busy,
       keys(request)[..100] AS names,
       [name IN $names | valueType(request[name])] AS kinds,
       [name IN $names |
         CASE
           WHEN valueType(request[name]) STARTS WITH 'STRING' AND size(request[name]) <= $longest THEN request[name]
           WHEN valueType(request[name]) STARTS WITH 'LIST'
                AND size(request[name]) <= $most
                AND all(item IN request[name]
                        WHERE CASE
                          WHEN valueType(item) STARTS WITH 'STRING' THEN size(item) <= $longest
                          ELSE valueType(item) IN ['INTEGER NOT NULL', 'FLOAT NOT NULL', 'BOOLEAN NOT NULL']
                        END)
             THEN request[name]
           WHEN valueType(request[name]) IN ['INTEGER NOT NULL', 'FLOAT NOT NULL', 'BOOLEAN NOT NULL']
             THEN request[name]
         END
       ] AS values
