// The progress of a request, and its answer.
//
// parameters:
//   $id  integer | string  its identifier
// returns:
//   status    string|null      requested, running, complete, failed or cancelled; no row if it is gone
//   progress  float|null       0 to 1
//   message   string|null      for its author
//   runs      list<list<any>>  run and version of each one it produced
MATCH (request:PCohesionRequest {id: $id})
RETURN request.status AS status,
       CASE WHEN 0 <= request.progress <= 1 THEN request.progress END AS progress,
       CASE WHEN valueType(request.message) = 'STRING NOT NULL' THEN request.message END AS message,
       COLLECT {
         MATCH (request)-[produced:PRODUCED]->(run:PCohesionRun)
         WITH run.id AS run, produced.version AS version
         ORDER BY run
         RETURN [run, version]
       } AS runs
