// Delete requests of any status.
//
// parameters:
//   $limit  integer 1..  most that one transaction deletes
// returns:
//   deleted  integer  how many; 0 when none is left
// repeatable: what is gone is not found again.
// scan: all of them are deleted; only `pcneo clean --everything` runs this.
MATCH (request:PCohesionRequest)
WITH request
LIMIT $limit
DETACH DELETE request
RETURN count(*) AS deleted
