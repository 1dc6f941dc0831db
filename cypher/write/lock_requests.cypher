// Lock requests until the transaction ends; only then may it read what they say.
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
