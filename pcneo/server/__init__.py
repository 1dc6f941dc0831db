"""A local Neo4j to try things on: fetched, started, watched and stopped, with neither Java nor Docker installed."""
