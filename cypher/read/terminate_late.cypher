// End the transactions of earlier writers of a graph that are still under way.
//
// parameters:
//   $graph     string  name of the graph
//   $writer    string  token of the writer whose transactions go on
//   $database  string  this one; a graph in another database may have the same name
// returns:
//   ended  string  identifier of an ended transaction
SHOW TRANSACTIONS YIELD transactionId AS late, metaData, database
WHERE database = $database AND metaData.pcneoGraph = $graph AND metaData.pcneoWriter <> $writer
TERMINATE TRANSACTIONS late YIELD transactionId
RETURN transactionId AS ended
