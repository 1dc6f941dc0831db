// Delete answers that are old, or beyond the number that is kept.
//
// parameters:
//   $seconds  integer 0..  how long an answer is kept
//   $keep     integer 0..  how many are kept
//   $limit    integer 1..  most that one transaction deletes
// returns:
//   deleted  integer  how many
// repeatable: what is gone is not found again.
MATCH (request:PCohesionRequest)
WHERE request.status IN ['complete', 'failed', 'cancelled']
WITH request, coalesce(request.finishedAt, request.requestedAt, datetime({epochSeconds: 0})) AS finished
ORDER BY finished DESC
WITH collect(request) AS answers, datetime() - duration({seconds: $seconds}) AS oldest
UNWIND range(0, size(answers) - 1) AS i
WITH answers[i] AS answer, i, oldest
WHERE i >= $keep OR coalesce(answer.finishedAt < oldest, false)
WITH answer
LIMIT $limit
DETACH DELETE answer
RETURN count(*) AS deleted
