"""A local Neo4j to try things on: fetched, started, watched and stopped without Java or Docker at hand."""
