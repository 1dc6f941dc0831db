// Whether a worker still has a request, and whether its author wants it stopped.
//
// parameters:
//   $id     integer | string  the request
//   $token  string            of the claim
// returns:
//   held    boolean  whether the claim still counts; no row if the request is gone
//   cancel  boolean  whether it should stop
MATCH (request:PCohesionRequest {id: $id})
RETURN coalesce(request.token = $token, false) AS held, coalesce(request.cancel = true, false) AS cancel
