// Stop a request that has not been answered.
//
// parameters:
//   $id  integer | string  its identifier
// returns:
//   cancelled  integer  1, or 0 if it is gone
// repeatable: sets the same value again.
MATCH (request:PCohesionRequest {id: $id})
SET request.cancel = true
RETURN count(request) AS cancelled
