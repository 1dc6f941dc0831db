// Lock vertices, and the relationships at those with few, until the transaction ends; nothing changes. A transaction
// that changes relationships takes these locks as it commits, and no one can end a commit that waits for a lock.
// The server reads a value for `coalesce` once it has the lock; for `SET v.id = v.id` it would read before it waits, and
// undo what somebody has committed meanwhile.
//
// names:
//   Person  labels    all chosen labels
//   id      property  the key property
// parameters:
//   $keys  list<integer | string>  the vertices, in the order in which everyone locks them
// returns:
//   held  integer  how many there are
// repeatable: sets the values that are there.
UNWIND $keys AS key
MATCH (v:Person {id: key})
SET v.id = coalesce(v.id, v.id)
WITH v
CALL (v) {
  MATCH (v)-[few]-()
  WHERE COUNT { (v)--() } < 50
  SET few.id = coalesce(few.id, few.id)
  RETURN count(few) AS relationships
}
RETURN count(v) AS held
