// Every run of the database, oldest first.
//
// returns:
//   id                 string         the run
//   graph              string         name of its graph
//   scope              string         graph or vertices
//   pText              string         p as a canonical fraction a/b
//   score              string         density or degree
//   status             string         running, complete or replaced
//   nodeCount          integer        in the count store when the graph was read
//   relationshipCount  integer        likewise
//   vertices           integer        vertices read
//   edges              integer        edges read
//   memberships        integer        memberships written
//   fingerprint        string|null    keyed hash of keys and edges
//   membershipHash     string|null    hash of the memberships
//   version            string         the pcneo that wrote it
//   startedAt          datetime       server time
//   finishedAt         datetime|null  server time
MATCH (run:PCohesionRun)
WHERE run.id IS NOT NULL
RETURN run.id AS id, run.graph AS graph, run.scope AS scope, run.pText AS pText, run.score AS score,
       run.status AS status, run.nodeCount AS nodeCount, run.relationshipCount AS relationshipCount,
       run.vertices AS vertices, run.edges AS edges, run.memberships AS memberships,
       run.fingerprint AS fingerprint, run.membershipHash AS membershipHash, run.version AS version,
       run.startedAt AS startedAt, run.finishedAt AS finishedAt
ORDER BY startedAt, id
