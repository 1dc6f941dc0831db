// The server's version.
//
// returns:
//   version  string  for example 2026.09.0 or 5.27-aura
CALL dbms.components() YIELD name, versions
WITH name, versions
WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS version
