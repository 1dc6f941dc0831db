// One page of the vertices of one label in key order, and their current hubs of a run, column by column, in one row.
// A value that a hub lacks is an empty text, so that all columns are equally long.
// A hub gets its name late, so that a plan made before there were hubs begins at the vertices, too.
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
//   keys         list<integer|string>  the vertices, ascending
//   vertices     list<integer|string>  of each hub, its vertex, in the same order
//   owners       list<any>             hash of the key that the vertex had when the hub was written
//   digests      list<any>             hash of that key and the members' keys
//   sizes        list<any>             members, as written
//   edges        list<any>             connections inside, as written
//   proven       list<any>             whether nothing smaller exists, as written
//   best         list<any>             whether nothing better exists, as written
//   memberships  list<integer>         members that it has now
//   owned        list<integer>         how many vertices it is the hub of now
MATCH (v:Page)
WHERE v.id >= $from AND NOT any(label IN $earlier WHERE label IN labels(v))
WITH v
ORDER BY v.id
LIMIT $limit
WITH collect(v) AS page, collect(v.id) AS keys
CALL (page) {
  UNWIND page AS v
  MATCH (v)-[:HAS_COHESION]->(hub)
  WITH v, hub AS cohesion
  WHERE cohesion:PCohesion AND cohesion.run = $run AND cohesion.from <= $version AND cohesion.until > $version
  RETURN collect(v.id) AS vertices,
         collect(coalesce(cohesion.owner, '')) AS owners,
         collect(coalesce(cohesion.digest, '')) AS digests,
         collect(coalesce(cohesion.size, '')) AS sizes,
         collect(coalesce(cohesion.edges, '')) AS edges,
         collect(coalesce(cohesion.proven, '')) AS proven,
         collect(coalesce(cohesion.best, '')) AS best,
         collect(COUNT { (cohesion)<-[:IN_COHESION]-() }) AS memberships,
         collect(COUNT { (cohesion)<-[:HAS_COHESION]-() }) AS owned
}
RETURN keys, vertices, owners, digests, sizes, edges, proven, best, memberships, owned
