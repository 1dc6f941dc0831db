"""Lines about updates: the cost of `annotate` after a few changes, beside a first one and the driver's reading."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.beside_driver import read_all
from benchmarks.large import loaded_made
from benchmarks.measuring import SEED, Line, Setting, at_most, say
from benchmarks.neo4j_servers import Server, in_process, loaded

REMOVED = (0, 10, 100, 1_000)
TURNS = 5
"""Turns per round of an `annotate` that finds nothing changed, and of a plain read."""
REMOVE = (
    "MATCH (a:Person)-[r:KNOWS]->(b:Person) "
    "WITH a, b, r, (a.id * 1103515245 + b.id * 12345 + $seed) % 2147483647 AS place "
    "ORDER BY place, a.id, b.id LIMIT $count WITH a.id AS a, b.id AS b, r DELETE r RETURN a, b"
)
"""Connections in an order that does not depend on where they are stored."""
RESTORE = "UNWIND $pairs AS pair MATCH (a:Person {id: pair[0]}), (b:Person {id: pair[1]}) CREATE (a)-[:KNOWS]->(b)"


def updates(setting: Setting) -> Iterator[Line]:
    """`pcneo annotate` after connections were removed, beside a first one on the same server: elapsed and server time.

    Each round begins with a first `annotate`. Removals add up: 0 connections, then 10, then 100, then 1,000 more.
    """
    with loaded(setting.file) as server, server.driver() as driver:
        for p in ("0.1", "0.3"):
            yield from _updates_of(setting.name, server, driver, p, rounds=setting.rounds if p == "0.1" else 1)


def updates_large(setting: Setting) -> Iterator[Line]:
    """The same at p=0.1 on a generated graph of `--edges` edges, once."""
    with loaded_made(setting.edges) as (name, _, server), server.driver() as driver:
        yield from _updates_of(name, server, driver, "0.1", rounds=1)


def _updates_of(graph: str, server: Server, driver: Any, p: str, rounds: int) -> Iterator[Line]:
    from pcneo.store.connection import connect
    from pcneo.stored.cleaning import clean

    walls: dict[str, list[float]] = {}
    works: dict[str, list[float]] = {}

    def measured(name: str, task: Callable[[], float]) -> None:
        before = server_seconds(server.pid)
        walls.setdefault(name, []).append(task())
        works.setdefault(name, []).append(server_seconds(server.pid) - before)

    def annotate() -> float:
        return in_process("annotate", server.uri, str(server.password_file), p, "smallest")["seconds"]

    for number in range(rounds):
        say(f"  updates p={p} round {number + 1} of {rounds}")
        removed: list[list[Any]] = []
        clean(connect(driver=driver))
        measured("full", annotate)
        for count in REMOVED:
            removed += map(list, driver.execute_query(REMOVE, count=count, seed=SEED + number).records)
            measured(str(count), annotate)
            measured(f"read {count}", lambda: read_all(driver))
            for _ in range(TURNS if count == 0 else 0):
                measured("unchanged", annotate)
                measured("read unchanged", lambda: read_all(driver))
        driver.execute_query(RESTORE, pairs=removed)
    note = f"{rounds} rounds; Neo4j {server.version} on the same cores; without start-up"
    for count in REMOVED:
        line = Line(
            f"annotate again after {count:,} removed connections, {graph}, p={p}",
            walls[str(count)],
            peer="the first annotate",
            theirs=walls["full"],
            bound="the plain driver reading the same rows",
            floor=walls[f"read {count}"],
            goal=at_most(1 / 3) if (count, p) == (100, "0.1") else None,
            note=note,
        )
        yield line
        yield replace(
            line,
            what=f"{line.what}, the server's processor time",
            ours=works[str(count)],
            theirs=works["full"],
            goal=None,
            bound="",
            floor=(),
        )
        if count == 0:
            yield replace(
                line,
                what=f"annotate where nothing has changed, {graph}, p={p}",
                ours=walls["unchanged"],
                peer="the plain driver reading the same rows",
                theirs=walls["read unchanged"],
                floor=(),
                bound="",
                goal=at_most(1.3),
                note=f"{TURNS} turns a round, {note}",
            )


def server_seconds(pid: int) -> float:
    """Processor seconds that a process has used, in its own code and in the kernel's."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
