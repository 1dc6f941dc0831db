// End the transaction with a token.
//
// parameters:
//   $token    string   from the metadata of the transaction
//   $blocked  boolean  only if it is waiting for a lock
// returns:
//   ended  string  identifier of an ended transaction
SHOW TRANSACTIONS YIELD transactionId AS waiting, metaData, status
WHERE metaData.pcneo = $token AND (NOT $blocked OR status STARTS WITH 'Blocked')
TERMINATE TRANSACTIONS waiting YIELD transactionId
RETURN transactionId AS ended
