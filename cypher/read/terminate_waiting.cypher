// End the transactions with a token, but only if they are waiting for a lock.
//
// parameters:
//   $token  string  metadata of the transaction that waits too long
// returns:
//   ended  string  identifier of an ended transaction
SHOW TRANSACTIONS YIELD transactionId AS waiting, metaData, status
WHERE metaData.pcneo = $token AND status STARTS WITH 'Blocked'
TERMINATE TRANSACTIONS waiting YIELD transactionId
RETURN transactionId AS ended
