// End the transactions of earlier writers of a graph that are still under way.
//
// parameters:
//   $graph   string  name of the graph
//   $writer  string  token of the writer whose transactions go on
// returns:
//   ended  string  identifier of an ended transaction
SHOW TRANSACTIONS YIELD transactionId AS late, metaData
WHERE metaData.pcneoGraph = $graph AND metaData.pcneoWriter <> $writer
TERMINATE TRANSACTIONS late YIELD transactionId
RETURN transactionId AS ended
