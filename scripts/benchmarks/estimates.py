"""Lines about estimates: what `estimate` predicts beside the real cost, on graphs from files and a large made one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.batches import write_parquet
from benchmarks.graphs import read_graph
from benchmarks.large import loaded_made
from benchmarks.measuring import THREADS, Line, Setting, at_most, say
from benchmarks.neo4j_servers import NAMES, Server, load_graph, local_server

PS = ("0.1", "0.3")
WARM = "0.2"
"""Written before anything is measured: the first run creates indexes, and a server that has just started is slow."""
LEAST_SECONDS = 0.1
"""Anything shorter counts as this long: no one plans by less."""
SEARCHES, LONG_SECONDS = 3, 1.0
"""A short search is repeated, and its median counts: another process, or the collector, can double 0.1 s."""
STORE = "bytes of the store"
QUANTITIES = ("memberships", "seconds of the search", "seconds altogether", "bytes of Parquet")

Compared = dict[str, tuple[float, float]]
"""By quantity: the estimate, and the measured value."""


def estimates(setting: Setting) -> Iterator[Line]:
    """What `estimate` predicts beside the real cost, on each edge list in the graph's folder, at p=0.1 and p=0.3."""
    files = sorted(setting.file.parent.glob("*.edges.gz")) or [setting.file]
    compared: dict[str, dict[str, Compared]] = {p: {} for p in PS}
    stores: dict[str, Compared] = {}
    for file in files:
        name = file.name.partition(".")[0]
        with TemporaryDirectory() as folder:
            with local_server(Path(folder)) as server, server.driver() as driver:
                load_graph(driver, file)
                _compare(server, read_graph(file), WARM)
            before = _stored_bytes(folder)
            with local_server(Path(folder)) as server:
                said = _compare(server, read_graph(file), "0.25")[1]
                for p in PS:
                    compared[p][name], bytes_said = _compare(server, read_graph(file), p)
                    said += bytes_said
                    say(f"  estimate {name} p={p}: {_factors(compared[p][name])}")
            stores[name] = {STORE: (said, _stored_bytes(folder) - before)}
            say(f"  estimate {name}: {_factors(stores[name])}")
    for p in PS:
        yield from _lines(f"{len(files)} graphs, p={p}", compared[p])
    yield from _lines(f"{len(files)} graphs, three runs", stores)


def estimates_large(setting: Setting) -> Iterator[Line]:
    """The same at p=0.1 on a generated graph of `--edges` edges."""
    with loaded_made(setting.edges) as (name, graph, server):
        yield from _lines(f"{name}, p=0.1", {"made": _compare(server, graph, "0.1")[0]})


def _compare(server: Server, graph: Any, p: str) -> tuple[Compared, int]:
    """Return the estimates with the measured values, and the estimated bytes of the store."""
    from pcneo import annotate
    from pcneo.basics.searches import Search
    from pcneo.search import search_batches
    from pcneo.store.connection import connect

    with server.driver() as driver, TemporaryDirectory() as folder:
        (said,) = annotate.estimate(connect(driver=driver), p=p, concurrency=THREADS, **NAMES).estimates.values()
        started = time.perf_counter()
        written = annotate.write(connect(driver=driver), p=p, concurrency=THREADS, **NAMES)
        whole = time.perf_counter() - started
        searches: list[float] = []
        batches: list[Any] = []
        while sum(searches) < LONG_SECONDS and len(searches) < SEARCHES:
            started = time.perf_counter()
            batches = list(search_batches(graph, Search(p), concurrency=THREADS))
            searches.append(time.perf_counter() - started)
        write_parquet(graph.keys, batches, Path(folder) / "x.parquet")
        parquet = (Path(folder) / "x.parquet").stat().st_size
    search = _counted(median(searches))
    taken = (written.runs[0].memberships_written, search, _counted(whole), parquet)
    promised = (said.memberships, _counted(said.compute_seconds), _counted(said.total_seconds), said.parquet_bytes or 0)
    return dict(zip(QUANTITIES, zip(promised, taken, strict=True), strict=True)), said.store_bytes


def _counted(seconds: float) -> float:
    return max(seconds, LEAST_SECONDS)


def _stored_bytes(folder: str) -> int:
    """Return the size of the database's files, without transaction logs; the server has been stopped."""
    store = Path(folder) / "data" / "data" / "databases" / "neo4j"
    return sum(file.stat().st_size for file in store.rglob("*") if file.is_file())


def _lines(name: str, compared: dict[str, Compared]) -> Iterator[Line]:
    """Yield for each quantity how far off the worst estimate is; the note lists them all."""
    for quantity in next(iter(compared.values())):
        pairs = {graph: quantities[quantity] for graph, quantities in compared.items()}
        yield Line(
            f"estimate of {quantity}, {name}: how far off the worst is",
            [max(max(said / taken, taken / said) for said, taken in pairs.values())],
            "times",
            goal=at_most(2, "ours"),
            note="said / taken: " + ", ".join(f"{graph} {said / taken:.2f}" for graph, (said, taken) in pairs.items()),
        )


def _factors(compared: Compared) -> str:
    return ", ".join(f"{quantity} {said:.3g} for {taken:.3g}" for quantity, (said, taken) in compared.items())
