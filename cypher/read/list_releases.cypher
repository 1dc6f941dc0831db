// Every release that was recorded, oldest first.
//
// returns:
//   id                 string             the release
//   graph              string             name of its graph
//   nodeLabels         list<string>|null  labels of its graph; null in a release of pcneo 0.2.0 and before
//   relationshipTypes  list<string>|null  relationship types of its graph, likewise
//   run                string|null        the run it used
//   runVersion         integer|null       the version of that run; null where an earlier pcneo made the release
//   mechanism          string             name of the mechanism
//   k                  integer            vertices of the cliques
//   p                  string|null        p as a canonical fraction a/b
//   search             string|null        name of the run's search; up to format 2 it was called score
//   epsilon            string             ε as a canonical fraction a/b
//   epsilonOne         string|null        ε1 likewise
//   delta              string             δ likewise
//   h                  integer|null       h of the mechanisms with two phases
//   membershipHash     string|null        hash of the memberships it used
//   answers            string|null        the release whose answers it is computed from
//   threshold          integer|null       a of the answers it drew
//   vertices           integer|null       how many vertices they are about
//   keysHash           string|null        hash of the keys of these
//   fingerprint        string|null        keyed hash of the graph that they are about
//   answersHash        string|null        hash of keys and answers
//   property           string|null        the property that holds the noisy counts
//   propertyHash       string|null        hash of the values written there
//   who                string             the operating-system user
//   version            string             of pcneo
//   at                 datetime           server time
MATCH (release:PCohesionRelease)
WHERE release.graph IS NOT NULL
RETURN release.id AS id, release.graph AS graph, release.nodeLabels AS nodeLabels,
       release.relationshipTypes AS relationshipTypes, release.run AS run, release.runVersion AS runVersion,
       release.mechanism AS mechanism, release.k AS k, release.p AS p, coalesce(release.search, release.score) AS search,
       release.epsilon AS epsilon, release.epsilonOne AS epsilonOne,
       release.delta AS delta, release.h AS h, release.membershipHash AS membershipHash,
       release.answers AS answers, release.threshold AS threshold, release.vertices AS vertices,
       release.keysHash AS keysHash, release.fingerprint AS fingerprint, release.answersHash AS answersHash,
       release.property AS property,
       release.propertyHash AS propertyHash, release.who AS who, release.version AS version, release.at AS at
ORDER BY at, id
