// Answer a request, in the transaction that has locked it; the claim ends.
//
// parameters:
//   $id        integer | string  the request
//   $token     string            of the claim
//   $status    string            complete, failed or cancelled
//   $message   string|null       a sentence for its author
//   $progress  float             0 to 1
//   $version   integer|null      the version that readers of its runs go by
//   $runs      list<map>         run and version of each one it produced
// returns:
//   finished  integer  1, or 0 where the claim no longer counts
// repeatable: a second time the claim no longer counts.
MATCH (request:PCohesionRequest {id: $id})
WHERE request.token = $token
SET request.status = $status,
    request.message = $message,
    request.progress = $progress,
    request.version = $version,
    request.finishedAt = datetime(),
    request.token = null,
    request.leaseUntil = null,
    request.busySince = null
WITH request
CALL (request) {
  UNWIND $runs AS produced
  MATCH (run:PCohesionRun {id: produced.run})
  // locks it where a wait can be ended, not at the commit; without `coalesce` it would set what it read before it waited
  SET run.version = coalesce(run.version, run.version)
  CREATE (request)-[:PRODUCED {version: produced.version}]->(run)
  RETURN count(run) AS produced
}
RETURN count(request) AS finished
