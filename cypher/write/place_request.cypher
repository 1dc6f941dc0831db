// Place a request with this identifier, unless one exists.
//
// parameters:
//   $id      integer | string  its identifier
//   $values  map               its properties
// returns:
//   status  string|null  of the request, whether new or not
// repeatable: MERGE on a unique identifier; an existing request stays as it is.
MERGE (request:PCohesionRequest {id: $id})
ON CREATE SET request += $values,
              request.status = 'requested',
              request.requestedAt = datetime()
RETURN request.status AS status
