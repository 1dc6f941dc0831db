// End the transactions of a worker whose lease has run out.
//
// parameters:
//   $token  string  the token of its claim
// returns:
//   ended  string  identifier of an ended transaction
SHOW TRANSACTIONS YIELD transactionId AS late, metaData
WHERE metaData.pcneoRequest = $token
TERMINATE TRANSACTIONS late YIELD transactionId
RETURN transactionId AS ended
