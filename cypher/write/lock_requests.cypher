// Lock requests until the transaction ends; it may read them only once they are locked.
//
// parameters:
//   $ids  list  the requests
// returns:
//   locked  integer  how many there are
// repeatable: writes the time only.
UNWIND $ids AS id
MATCH (request:PCohesionRequest {id: id})
USING INDEX SEEK request:PCohesionRequest(id)
SET request.lockedAt = datetime()
RETURN count(request) AS locked
