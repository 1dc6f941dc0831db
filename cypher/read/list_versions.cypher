// Every version of one standing run that is on record, oldest first.
//
// parameters:
//   $run  string  the run
// returns:
//   id                 string         the run
//   graph              string         name of its graph
//   scope              string         graph, vertices or answers
//   pText              string         p as a canonical fraction a/b
//   search             string         name of the search
//   version            integer        the version
//   readable           boolean        whether its hubs are kept
//   pcneo              string         the pcneo that wrote it
//   revision           integer        of the search; raised where any answer can change
//   effort             integer        of the search
//   added              integer        hubs that came with the version
//   retired            integer        hubs that went with it
//   cohesions          integer        hubs that it had
//   memberships        integer        their members
//   nodeCount          integer        the count store's figure when the graph was read
//   relationshipCount  integer        the same for relationships
//   vertices           integer        vertices read
//   edges              integer        edges read
//   fingerprint        string|null    keyed hash of keys and edges
//   membershipHash     string|null    hash of the memberships
//   fromFiles          boolean        whether hubs of it came from files instead of a search
//   startedAt          datetime       server time
//   finishedAt         datetime       server time
//   replacedAt         datetime|null  when readers went on to the next; null for the current one
MATCH (run:PCohesionRun {id: $run})
MATCH (version:PCohesionVersion {run: $run})
WHERE version.version <= run.version
RETURN run.id AS id, run.graph AS graph, run.scope AS scope, run.pText AS pText, run.search AS search,
       version.version AS version, version.readable AS readable, version.pcneo AS pcneo, version.revision AS revision,
       version.effort AS effort,
       version.added AS added, version.retired AS retired, version.cohesions AS cohesions,
       version.memberships AS memberships, version.nodeCount AS nodeCount,
       version.relationshipCount AS relationshipCount, version.vertices AS vertices, version.edges AS edges,
       version.fingerprint AS fingerprint, version.membershipHash AS membershipHash,
       coalesce(version.fromFiles, false) AS fromFiles, version.startedAt AS startedAt,
       version.finishedAt AS finishedAt, version.replacedAt AS replacedAt
ORDER BY version
