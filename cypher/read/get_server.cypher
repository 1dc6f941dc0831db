// The server's version and edition.
//
// returns:
//   version  string  for example 2026.09.0 or 5.27-aura
//   edition  string  community, enterprise or aura
CALL dbms.components() YIELD name, versions, edition
WITH name, versions, edition
WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS version, edition
