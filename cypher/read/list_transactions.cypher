// The open transactions of a database, as far as this user may see them, and what each of them waits for.
//
// parameters:
//   $database  string  as the server names it
// returns:
//   transaction  string       the server's name for it
//   token        string|null  of pcneo's own transactions that write
//   writer       string|null  token of the writer of a graph that it belongs to
//   status       string       `Blocked by: [...]` where it waits for locks of others
//   user         string       whose it is
//   client       string       from where
//   since        string       when it began
//   locks        integer      how many it holds
SHOW TRANSACTIONS YIELD transactionId, metaData, status, username, clientAddress, startTime, activeLockCount, database
WHERE database = $database
RETURN transactionId AS transaction,
       metaData.pcneo AS token,
       metaData.pcneoWriter AS writer,
       status,
       username AS user,
       clientAddress AS client,
       startTime AS since,
       activeLockCount AS locks
