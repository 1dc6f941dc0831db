// Wait until every index of the database is online, for at most five minutes.
CALL db.awaitIndexes(300)
