// Delete answers that are old, or beyond the number that is kept.
//
// parameters:
//   $seconds  integer 0..  how long an answer is kept
//   $keep     integer 0..  how many are kept
//   $limit    integer 1..  most that one transaction deletes of either kind
// returns:
//   deleted  integer  how many
// repeatable: what is gone is not found again.
CALL () {
  MATCH (answer:PCohesionRequest)
  WHERE answer.status IN ['complete', 'failed', 'cancelled']
  WITH answer
  ORDER BY coalesce(answer.finishedAt, answer.requestedAt, datetime({epochSeconds: 0})) DESC
  SKIP $keep
  LIMIT $limit
  RETURN answer
  UNION
  MATCH (answer:PCohesionRequest)
  WHERE answer.status IN ['complete', 'failed', 'cancelled']
    AND answer.finishedAt < datetime() - duration({seconds: $seconds})
  WITH answer
  LIMIT $limit
  RETURN answer
}
DETACH DELETE answer
RETURN count(*) AS deleted
