// The transactions that are open, as far as this user may see them, and the locks that each is waiting for.
//
// returns:
//   transaction  string       the server's name for it
//   token        string|null  the token of one of pcneo's writing transactions
//   writer       string|null  token of the writer of a graph that it belongs to
//   status       string       `Blocked by: [...]` where it is waiting for the locks of others
//   user         string       its user
//   client       string       the address of its client
//   since        string       when it began
//   locks        integer      how many it holds
SHOW TRANSACTIONS YIELD transactionId, metaData, status, username, clientAddress, startTime, activeLockCount
RETURN transactionId AS transaction,
       metaData.pcneo AS token,
       metaData.pcneoWriter AS writer,
       status,
       username AS user,
       clientAddress AS client,
       startTime AS since,
       activeLockCount AS locks
