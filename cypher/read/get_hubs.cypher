// One page of the vertices of one label in key order, each with its current hubs of a run, in one row.
//
// names:
//   Page  label     one of the chosen labels
//   id    property  the key property
// parameters:
//   $run      string          the run
//   $version  integer         the version that readers go by
//   $from     integer|string  smallest key of the page
//   $limit    integer 1..     vertices in the page
//   $earlier  list<string>    chosen labels whose pages were read before; their vertices are left out
// returns:
//   keys  list<integer|string>  the vertices, ascending
//   hubs  list<list<list>>      of each: owner, digest, size, edges, memberships and owners that it has now
MATCH (v:Page)
WHERE v.id >= $from AND NOT any(label IN $earlier WHERE label IN labels(v))
WITH v
ORDER BY v.id
LIMIT $limit
RETURN collect(v.id) AS keys,
       collect(COLLECT {
         MATCH (v)-[:HAS_COHESION]->(cohesion:PCohesion {run: $run})
         WHERE cohesion.from <= $version AND cohesion.until > $version
         RETURN [cohesion.owner, cohesion.digest, cohesion.size, cohesion.edges,
                 COUNT { (cohesion)<-[:IN_COHESION]-() }, COUNT { (cohesion)<-[:HAS_COHESION]-() }]
       }) AS hubs
