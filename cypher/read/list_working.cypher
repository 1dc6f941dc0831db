// Requests that a service is working on.
//
// returns:
//   worker  string  the service
MATCH (request:PCohesionRequest {status: 'running'})
WHERE datetime() < request.leaseUntil AND valueType(request.worker) = 'STRING NOT NULL'
RETURN DISTINCT left(request.worker, 100) AS worker
