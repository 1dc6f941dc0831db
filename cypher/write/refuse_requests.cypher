// Let requests fail that wait, in the transaction that has locked them.
//
// parameters:
//   $ids      list    the requests
//   $message  string  why
// returns:
//   refused  integer  how many were still waiting
// repeatable: what has failed does not wait.
UNWIND $ids AS id
MATCH (request:PCohesionRequest {id: id})
USING INDEX SEEK request:PCohesionRequest(id)
WHERE request.status = 'requested'
SET request.status = 'failed',
    request.message = $message,
    request.finishedAt = datetime()
RETURN count(request) AS refused
