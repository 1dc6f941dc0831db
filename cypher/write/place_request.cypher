// Place a request with this identifier, unless there is one.
//
// parameters:
//   $id      integer | string  its identifier
//   $values  map               what it says
// returns:
//   status  string|null  of the request, new or not
//   asked   map          what the request there asks for
// repeatable: MERGE on a unique identifier; what is there already stays as it is.
MERGE (request:PCohesionRequest {id: $id})
ON CREATE SET request += $values,
              request.status = 'requested',
              request.requestedAt = datetime()
RETURN request.status AS status,
       request {.command, .graph, .p, .search, .vertices, .run} AS asked
