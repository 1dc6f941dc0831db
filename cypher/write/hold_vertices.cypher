// Lock vertices, and the relationships at those with few, until the transaction ends; nothing changes. A transaction that
// changes relationships takes these locks as it commits, and no one can end a commit that is waiting for a lock.
//
// names:
//   Person  labels    all chosen labels
//   id      property  the key property
// parameters:
//   $keys  list<integer | string>  the vertices, in the order in which every writer locks them
// returns:
//   held  integer  how many there are
// repeatable: sets the values that are already there.
UNWIND $keys AS key
MATCH (v:Person {id: key})
SET v.id = v.id
WITH v
CALL (v) {
  MATCH (v)-[few]-()
  WHERE COUNT { (v)--() } < 50
  SET few.id = few.id
  RETURN count(few) AS relationships
}
RETURN count(v) AS held
