"""A graph of a million vertices on four workers, and what its costs suggest for larger graphs on more cores."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.batches import write_parquet
from benchmarks.graphs import as_arrays, made_graph
from benchmarks.local_cluster import local_cluster
from benchmarks.measuring import SEED, THREADS, Line, Setting, in_turns, say

WORKERS = 4
CORES = 64
LARGER = (10_000_000, 100_000_000)


@dataclass(frozen=True)
class Kind:
    """What is searched: a graph with groups near or from anywhere, a p, and one in how many of its vertices."""

    p: str
    far: float
    one_of: int

    @property
    def name(self) -> str:
        """Its name in tables."""
        return f"p={self.p}" + (", groups of vertices from anywhere" if self.far == 1 else "")


KINDS = (Kind("0.1", 0.1, 1), Kind("0.3", 0.1, 4), Kind("0.3", 1, 4_000))


@dataclass(frozen=True)
class Costs:
    """What one vertex costs, in seconds of one processor.

    Attributes:
        vertices: vertices of the graph in which it was measured.
        arcs: neighbours of a vertex.
        search: its search.
        growth: how many times the cost in a graph with a quarter of the vertices that is.
        memberships: members of its cohesion.
        handed_on: what the asking process takes to receive a membership, including a share of the cost per cohesion.
        filed: what the same process takes to write it to Parquet.
        bytes: its bytes in the file.
    """

    vertices: int
    arcs: float
    search: float
    growth: float
    memberships: float
    handed_on: float
    filed: float
    bytes: float


def project(costs: Costs, vertices: int, overhead: float, cores: int = CORES) -> tuple[float, float, float]:
    """Return the seconds that a larger graph of the same kind takes.

    Args:
        costs: as measured.
        vertices: of the larger graph.
        overhead: a cluster's time divided by that of threads on as many cores.
        cores: how many search.

    Returns:
        Of the search, if a vertex costs what it does in the measured graph; of the search, if its cost keeps growing as
        it did up to there; and of the process that takes the answers and writes them to one file.
    """
    constant = vertices * costs.search * overhead / cores
    growing = constant * max(1.0, costs.growth) ** math.log(vertices / costs.vertices, 4)
    return constant, growing, vertices * costs.memberships * (costs.handed_on + costs.filed)


def projections(setting: Setting, overhead: float) -> Iterator[Line]:
    """Measure on `--edges` edges, about a million vertices, and project.

    Args:
        setting: its `edges`.
        overhead: a cluster's time divided by that of threads on as many cores, as measured in the same run.
    """
    measured: dict[Kind, Costs] = {}
    graphs: dict[float, tuple[Any, Any]] = {}
    for kind in KINDS:
        if kind.far not in graphs:
            graphs = {kind.far: (_graph(setting.edges // 4, kind.far), _graph(setting.edges, kind.far))}
        line, costs = _measure(kind, *graphs[kind.far])
        yield line
        before = next((measured[other] for other in measured if other.p == kind.p), costs)  # of far more vertices
        measured[kind] = replace(costs, handed_on=before.handed_on, filed=before.filed, bytes=before.bytes)
    yield from chain.from_iterable(_projected(kind, costs, overhead) for kind, costs in measured.items())


def _graph(edges: int, far: float) -> Any:
    graph = as_arrays(*made_graph(edges, SEED, far))
    say(f"  made {graph.vertex_count:,} vertices, {graph.edge_count:,} edges")
    return graph


class _Turns(NamedTuple):
    """A search on workers and on threads, in turns; both give the same batches.

    Attributes:
        batches: the batches of cohesions.
        taken: seconds, by workers and by threads.
        processor: processor seconds of this process, by the same.
        idle: processor seconds that it takes per second of waiting for workers.
        resident: bytes, of the worker with the most.
    """

    batches: list[Any]
    taken: dict[str, list[float]]
    processor: dict[str, float]
    idle: float
    resident: int


def _search_in_turns(kind: Kind, graph: Any, positions: Any) -> _Turns:
    from pcneo.basics.searches import Search
    from pcneo.graph import hash_of_batches
    from pcneo.search import search_batches
    from pcneo.search.cluster import ClusterGraph

    kept: dict[str, list[Any]] = {}
    processor: dict[str, float] = {}
    hashes: dict[str, str] = {}

    def timed(name: str, search: Callable[[], Iterator[Any]]) -> Callable[[], float]:
        def run() -> float:
            kept.clear()
            started = time.perf_counter()
            kept[name], processor[name] = _searched(search)
            seconds = time.perf_counter() - started
            hashes[name] = hash_of_batches(kept[name])
            return seconds

        return run

    threads = timed("threads", lambda: search_batches(graph, Search(kind.p), vertices=positions, concurrency=THREADS))
    with local_cluster(WORKERS) as client:
        on_cluster = ClusterGraph(graph, client)
        tasks = {"cluster": timed("cluster", lambda: on_cluster.search_batches(Search(kind.p), vertices=positions))}
        for find in (
            on_cluster.search_batches,
            lambda search, **_: search_batches(graph, search, vertices=positions[:64]),
        ):
            list(find(Search(kind.p), vertices=positions[:64]))  # what is done only once is not measured
        idle = _idle()
        taken = in_turns(1, {**tasks, "threads": threads}, warm_up=False, label=f"{graph.vertex_count:,} {kind.name}")
        resident: Any = client.run(_resident)
    if hashes["cluster"] != hashes["threads"]:
        raise AssertionError("the answers differ")
    return _Turns(next(iter(kept.values())), taken, processor, idle, max(resident.values()))


def _measure(kind: Kind, quarter: Any, graph: Any) -> tuple[Line, Costs]:
    """Search on workers and on threads in turns, then a quarter; write the cohesions to a file."""
    from pcneo.annotate.estimating import memory_of_worker
    from pcneo.annotate.streaming import part_positions
    from pcneo.basics.searches import Search
    from pcneo.search import search_batches

    positions = part_positions(graph.vertex_count, (1, kind.one_of))
    some = part_positions(quarter.vertex_count, (1, max(1, kind.one_of // 4)))
    batches, taken, processor, idle, resident = _search_in_turns(kind, graph, positions)
    _, of_quarter = _searched(lambda: search_batches(quarter, Search(kind.p), vertices=some, concurrency=THREADS))
    filed, size = _filed(graph, batches)
    n, memberships = len(positions), sum(len(batch.members) for batch in batches)
    measured = Costs(
        vertices=graph.vertex_count,
        arcs=len(graph.neighbours) / graph.vertex_count,
        search=processor["threads"] / n,
        growth=(processor["threads"] / n) / (of_quarter / len(some)),
        memberships=memberships / n,
        handed_on=max(0.0, processor["cluster"] - idle * taken["cluster"][0]) / memberships,
        filed=filed / memberships,
        bytes=size / memberships,
    )
    which = f"{n:,} of " if kind.one_of > 1 else ""
    said, _ = memory_of_worker(graph.vertex_count, len(graph.neighbours), int(graph.degrees.max(initial=0)))
    line = Line(
        f"search of {which}{graph.vertex_count:,} vertices, {graph.edge_count:,} edges, {kind.name}, {WORKERS} workers",
        taken["cluster"],
        peer=f"{THREADS} threads of one process",
        theirs=taken["threads"],
        note=f"identical answers; seed {SEED}; {memberships:,} memberships; {WORKERS} processes on {THREADS} cores; "
        f"{1e6 * measured.search:,.3g} µs of a processor a vertex, {measured.growth:.2f} times that of a graph of "
        f"{quarter.vertex_count:,}; a worker has {resident / 2**20:.0f} MiB resident, the mapped graph "
        f"included, which all share; `estimate` says {said / 2**20:.0f}",
    )
    return line, measured


def _searched(search: Callable[[], Iterator[Any]]) -> tuple[list[Any], float]:
    """Return all batches of a search, and the processor seconds that this process took for them."""
    started = time.process_time()
    batches = list(search())
    return batches, time.process_time() - started


def _idle() -> float:
    """Return the processor seconds that this process takes per second of waiting for a cluster."""
    started = time.process_time()
    time.sleep(2)
    return (time.process_time() - started) / 2


def _filed(graph: Any, batches: list[Any]) -> tuple[float, int]:
    """Return the processor seconds and the bytes that a Parquet file of the batches takes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.parquet"
        started = time.process_time()
        write_parquet(graph.keys, batches, path)
        return time.process_time() - started, path.stat().st_size


def _projected(kind: Kind, costs: Costs, overhead: float) -> Iterator[Line]:
    from pcneo.annotate.estimating import memory_of_worker

    for vertices in LARGER:
        constant, growing, written = project(costs, vertices, overhead)
        worker, _ = memory_of_worker(vertices, round(vertices * costs.arcs), 0)
        yield Line(
            f"projected, not measured: {vertices:,} vertices of that kind, {kind.name}, {CORES} cores",
            [max(growing, written) / 3600],
            "h",
            note=f"the search takes {_hours(growing)} if its cost goes on growing {costs.growth:.2f} times at each "
            f"fourfold, {_hours(constant)} if a vertex costs what it does among {costs.vertices:,}; beside it one "
            f"process takes {_hours(written)} to receive the answers and write "
            f"{vertices * costs.memberships * costs.bytes / 1e9:,.1f} GB of Parquet, or a share of that for each part; "
            f"from {1e6 * costs.search:,.3g} µs of search a vertex, {costs.memberships:,.3g} memberships, "
            f"{1e6 * costs.handed_on:,.2g} µs to receive and {1e6 * costs.filed:,.2g} to write each, an overhead of "
            f"the cluster of {overhead:.2f} on {THREADS} cores, which more need not keep, and cores as fast as these; "
            f"a worker takes {worker / 1e9:,.1f} GB; reading the graph from the database comes before",
        )


def _hours(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds < 3600 else f"{seconds / 3600:,.3g} h"


def _resident() -> int:
    import psutil

    return psutil.Process().memory_info().rss
