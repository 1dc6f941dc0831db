// Delete some hubs that no kept version of a run has: those that came after one kept version and were gone by the next.
//
// parameters:
//   $run      string       the run
//   $after    integer      a kept version, or 0 before the first
//   $by       integer      the next kept version
//   $limit    integer 1..  hubs per transaction
//   $careful  boolean      lock members, and their relationships if there are few, as `hold_vertices` does
// returns:
//   deleted  integer  hubs deleted; 0 when none is left
// repeatable: what is gone is not found again.
MATCH (cohesion:PCohesionRetired {run: $run})
WHERE cohesion.until > $after AND cohesion.until <= $by AND cohesion.from > $after
WITH cohesion
LIMIT $limit
WITH collect(cohesion) AS cohesions
CALL (cohesions) {
  UNWIND CASE WHEN $careful THEN cohesions ELSE [] END AS cohesion
  MATCH (member)--(cohesion)
  WITH DISTINCT member
  ORDER BY elementId(member)
  SET member.run = coalesce(member.run, member.run)
  WITH member
  MATCH (member)-[few]-()
  WHERE COUNT { (member)--() } < 50
  SET few.run = coalesce(few.run, few.run)
  RETURN count(few) AS held
}
UNWIND cohesions AS cohesion
DETACH DELETE cohesion
RETURN count(*) AS deleted
