// Delete answers that are old, or beyond the number that is kept; one without a valid time counts as old.
//
// parameters:
//   $seconds  integer 0..  how long an answer is kept
//   $keep     integer 0..  the most answers that are kept
//   $limit    integer 1..  the most that one transaction deletes of either kind
// returns:
//   deleted  integer  how many
// repeatable: what is gone is not found again.
CALL () {
  MATCH (answer:PCohesionRequest)
  WHERE answer.status IN ['complete', 'failed', 'cancelled']
  WITH answer, CASE
         WHEN datetime({epochSeconds: 0}) <= answer.finishedAt <= datetime()
           THEN answer.finishedAt.epochSeconds
         ELSE 0
       END AS finished
  ORDER BY finished DESC
  SKIP $keep
  LIMIT $limit
  RETURN answer
  UNION
  MATCH (answer:PCohesionRequest)
  WHERE answer.status IN ['complete', 'failed', 'cancelled']
    AND NOT coalesce(datetime() - duration({seconds: $seconds}) <= answer.finishedAt <= datetime(), false)
  WITH answer
  LIMIT $limit
  RETURN answer
}
CALL (answer) {
  MATCH (answer)-[its]-(other)
  // locks them where a wait can be ended, not at the commit; without `coalesce` it would set what it read before it waited
  SET its.version = coalesce(its.version, its.version),
      other.version = coalesce(other.version, other.version)
  RETURN count(its) AS held
}
DETACH DELETE answer
RETURN count(*) AS deleted
