// Take or keep the write lock on one graph for as long as this transaction is open.
//
// parameters:
//   $name    string   the graph's name
//   $format  integer  the format of the data model; an older one on record is raised to it
// returns:
//   lastVersion  integer   the largest version number used so far, -1 where it is invalid; no row where there is no such graph
//   lockedAt     datetime  server time
//   format       integer   the latest data model format that was written under its name, at least the one given
// repeatable: writes the time, and the same format again.
MATCH (graph:PCohesionGraph {name: $name})
SET graph.lockedAt = datetime()
WITH graph // setting two properties at once takes locks in another order than setting one: two writers could deadlock
SET graph.format = CASE WHEN graph.format > $format THEN graph.format ELSE $format END
RETURN CASE
         WHEN graph.lastVersion IS NULL THEN 0
         WHEN valueType(graph.lastVersion) = 'INTEGER NOT NULL' THEN graph.lastVersion
         ELSE -1
       END AS lastVersion, graph.lockedAt AS lockedAt, graph.format AS format
