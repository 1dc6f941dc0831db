// Record a spend, in the transaction that holds the graph's lock and before any noise is drawn.
//
// parameters:
//   $release            string        a fresh identifier
//   $graph              string        name of the graph
//   $nodeLabels         list<string>  its labels, which outlive its own node here
//   $relationshipTypes  list<string>  its relationship types, which outlive its own node here
//   $run                string|null   the run it used
//   $runVersion         integer|null  the version of that run
//   $mechanism          string        name of the mechanism
//   $k                  integer 3..   vertices of the cliques
//   $p                  string|null   p as a canonical fraction a/b
//   $search             string|null   name of the run's search
//   $epsilon            string        ε as a canonical fraction a/b
//   $epsilonOne         string|null   ε1 as a canonical fraction a/b
//   $delta              string        δ as a canonical fraction a/b
//   $h                  integer|null  h of the mechanisms with two phases
//   $membershipHash     string|null   hash of the memberships it used
//   $answers            string|null   the release whose answers it is computed from; itself if it draws them
//   $threshold          integer|null  a of the answers it draws, of 2^24
//   $vertices           integer|null  how many vertices these answers cover
//   $keysHash           string|null   hash of these vertices' keys
//   $fingerprint        string|null   keyed hash of the graph, if it draws answers or its groups are from an earlier date
//   $keysFingerprint    string        hash of the graph's keys under the ledger's secret
//   $file               string|null   name of the public file
//   $who                string        the operating-system user
//   $version            string        of pcneo
// returns:
//   created  integer  1
// repeatable: MERGE on a unique identifier.
MERGE (release:PCohesionRelease {id: $release})
ON CREATE SET release.graph = $graph,
              release.nodeLabels = $nodeLabels,
              release.relationshipTypes = $relationshipTypes,
              release.run = $run,
              release.runVersion = $runVersion,
              release.mechanism = $mechanism,
              release.k = $k,
              release.p = $p,
              release.search = $search,
              release.epsilon = $epsilon,
              release.epsilonOne = $epsilonOne,
              release.delta = $delta,
              release.h = $h,
              release.membershipHash = $membershipHash,
              release.answers = $answers,
              release.threshold = $threshold,
              release.vertices = $vertices,
              release.keysHash = $keysHash,
              release.fingerprint = $fingerprint,
              release.keysFingerprint = $keysFingerprint,
              release.file = $file,
              release.who = $who,
              release.version = $version,
              release.at = datetime()
RETURN count(release) AS created
