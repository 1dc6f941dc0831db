// Delete some hubs that were written for a version of a run that was never completed.
//
// parameters:
//   $run      string       the run
//   $version  integer      the version that readers go by
//   $limit    integer 1..  hubs per transaction
//   $careful  boolean      lock members, and their relationships if there are few, as `hold_vertices` does
// returns:
//   deleted  integer  hubs deleted; 0 when none is left
// repeatable: what is gone is not found again.
MATCH (cohesion:PCohesion {run: $run})
WHERE cohesion.from > $version
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
