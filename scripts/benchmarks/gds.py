"""Neo4j's Graph Data Science library, on a local Neo4j of the version that it needs (scripts/benchmarks/gds.lock).

It is GPL software: fetched into the cache when the benchmark needs it, and run as a separate program.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.measuring import say
from benchmarks.neo4j_servers import own_server

LOCK = Path(__file__).with_name("gds.lock")
NEO4J_VERSION = "2026.01.4"
GDS_VERSION = "2.26.0"
GROUP = "org.neo4j.gds"
LOAD_VERTICES = "UNWIND range(0, $n - 1) AS id CREATE (:Person {id: id})"
INDEX = "CREATE CONSTRAINT FOR (v:Person) REQUIRE v.id IS UNIQUE"
LOAD_EDGES = """
UNWIND $rows AS row
MATCH (a:Person {id: row[0]}), (b:Person {id: row[1]})
CREATE (a)-[:KNOWS]->(b)
"""
PROJECT = "CALL gds.graph.project('g', 'Person', {KNOWS: {orientation: 'UNDIRECTED'}})"
COUNT = "CALL gds.cliqueCounting.stats('g', {concurrency: $threads}) YIELD computeMillis, globalCount"


class Gds:
    """A server with the library and one projected graph."""

    def __init__(self, graph: Any) -> None:
        """Prepare a server for this graph."""
        self._graph = graph
        self._stack = ExitStack()

    def __enter__(self) -> Gds:
        from benchmarks.graphs import edge_list
        from pcneo.server.folders import cache_folder, make_private
        from pcneo.server.jars import fetch_jars, parse_lock

        jars = parse_lock(LOCK.read_text())
        folder = make_private(cache_folder() / f"gds-{GDS_VERSION}")
        say(f"  Graph Data Science {GDS_VERSION} on Neo4j {NEO4J_VERSION} (its jars are fetched once, about 200 MB)")
        fetch_jars(jars, folder)
        own = [folder / jar.filename for jar in jars if jar.group == GROUP]
        rest = [folder / jar.filename for jar in jars if jar.group != GROUP]
        settings = {
            "server.memory.heap.max_size": "2g",
            "server.memory.pagecache.size": "256m",
            "dbms.security.procedures.unrestricted": "gds.*",
            "server.config.strict_validation.enabled": "false",  # some settings belong to later versions
        }
        server = self._stack.enter_context(own_server(rest, NEO4J_VERSION, plugins=own, settings=settings))
        self._driver = self._stack.enter_context(server.driver())
        self._driver.execute_query(LOAD_VERTICES, n=self._graph.vertex_count)
        self._driver.execute_query(INDEX)
        pairs = edge_list(self._graph)
        for start in range(0, len(pairs), 20_000):
            self._driver.execute_query(LOAD_EDGES, rows=[list(pair) for pair in pairs[start : start + 20_000]])
        self._driver.execute_query(PROJECT)
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def count_cliques(self, threads: int) -> tuple[float, list[int]]:
        """Return the seconds of computing, and the numbers of cliques of 3, 4, 5, … vertices."""
        record = self._driver.execute_query(COUNT, threads=threads).records[0]
        return record["computeMillis"] / 1000, [int(count) for count in record["globalCount"]]
