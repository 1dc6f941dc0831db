"""Mode `estimate`: what `write` would cost, estimated from a sample of vertices; nothing is written."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, Unpack

from pcneo.annotate.plan import Asked, Configuration, Plan, make_plan
from pcneo.annotate.row_writing import WRITERS
from pcneo.annotate.sampling import Interval, Sample, draw_sample
from pcneo.annotate.supply import Supply, WholeGraph, size_of
from pcneo.basics.frames import TableByP, rounded
from pcneo.basics.model import CohesionBatch, Graph
from pcneo.basics.searches import Search
from pcneo.basics.selection import Selection
from pcneo.errors import GraphError, ParameterError, PcneoError
from pcneo.graph.files.cohesion_file import bytes_in_file, check_parquet
from pcneo.store.chosen_graph import missing_key_indexes

if TYPE_CHECKING:
    from pcneo.store.database import Database


SAMPLE, SAMPLE_SECONDS = 400, 5.0
"""Vertices to search, and the seconds after which no more are started; some take seconds each."""
WRITE_RATE = 40_000
"""Memberships a second, assumed in refusals and where there is no index to measure with. Measured on machines shared
with the server: 22,000 to 74,000 (DATA-MODEL.md#what-it-costs)."""
MEMBERSHIP_BYTES, HUB_BYTES = 34, 260
"""Store bytes of a relationship record, and of a hub with its properties, its index entry and its owner's relationship.

The server's transaction logs are not included.
"""
LOG_BYTES, REMOVAL_LOG_BYTES = (130, 900), (100, 900)
"""Bytes of transaction logs for each membership and for each hub, when a run is written and when it is removed
(DATA-MODEL.md#what-it-costs)."""
MANY = 10_000_000
"""Memberships from which `estimate` warns: they take minutes to write, and minutes again to delete."""
MOST_STORED = 1_000_000_000
"""Memberships from which `write` refuses: they would take seven hours to write. Writing them to files takes minutes."""
LONG_SECONDS = 3_600
"""From here on, searching or writing takes long enough to mention the alternatives."""
TASK_SECONDS = 10
"""Seconds that a task on a cluster takes (ALGORITHM.md#on-a-cluster)."""
PROCESS_BYTES = 300_000_000
"""Memory of a worker without a graph: Python, numpy, numba and its compiled code, Dask."""
VERTEX_BYTES, THREAD_VERTEX_BYTES, NEIGHBOUR_BYTES = 56, 25, 54
"""Memory of the graph's arrays for each vertex; of a search for each vertex, and for each neighbour in the longest row.
"""
ANSWER_BYTES = 100_000_000
"""Memory of waiting answers, for each thread."""
TRIAL_MEMBERSHIPS = 10_000
"""Memberships in a trial's transaction: half as many as in one that writes."""
TRIAL_SECONDS, FEWEST_TRIALS, MOST_TRIALS = 1.5, 3, 12
"""No further trial begins after this many seconds. The earlier half of the trials warms up and does not count."""
WRITING = 5.0
"""Writing a membership or a hub takes this many times as long as finding a member (DATA-MODEL.md#what-it-costs)."""
UPDATE_SECONDS = 0.6
"""The time an update takes, however little there is to write."""
DOUBT = 2.0
"""The interval of the writing time is widened by this factor at both ends (DATA-MODEL.md#what-it-costs)."""

log = logging.getLogger("pcneo")


@dataclass(frozen=True)
class Estimate:
    """What one p would cost, estimated from a sample. The 95 % intervals cover the sampling error and nothing else.

    Attributes:
        sampled: vertices that were searched.
        memberships, memberships_low, memberships_high: those of all cohesions.
        compute_seconds, compute_seconds_low, compute_seconds_high: the search on this machine, with the threads of the
            configuration and nothing else running.
        write_seconds, write_seconds_low, write_seconds_high: writing to this store, from the time it takes now to find
            what would be written, and from the memberships and their interval; the load may change.
        total_seconds: reading, plus the longer of search and writing, which run side by side.
        store_bytes: relationships and hubs.
        log_bytes, removal_log_bytes: growth of the server's transaction logs when the run is written, and when it is
            removed; within a factor of two. The server deletes them according to its own settings.
        parquet_bytes: size of the files; None where pyarrow is not installed.
        tasks: tasks of ten seconds on a cluster of machines like this one.
        worker_bytes: memory of a worker with one thread.
        thread_bytes: memory of each further thread.
    """

    sampled: int
    memberships: int
    memberships_low: int
    memberships_high: int
    compute_seconds: float
    compute_seconds_low: float
    compute_seconds_high: float
    write_seconds: float
    write_seconds_low: float
    write_seconds_high: float
    total_seconds: float
    store_bytes: int
    parquet_bytes: int | None
    tasks: int
    worker_bytes: int
    thread_bytes: int
    log_bytes: int = 0
    removal_log_bytes: int = 0

    def as_row(self) -> dict[str, Any]:
        """Return the numbers that a table shows."""
        return vars(self)

    def in_words(self) -> str:
        """Return the amounts and times, in a line."""
        return (
            f"about {self.memberships:,} memberships ({self.memberships_low:,} to {self.memberships_high:,}); search "
            f"{rounded(self.compute_seconds, 2)} s, writing {rounded(self.write_seconds, 2)} s, in total, with "
            f"reading, {rounded(self.total_seconds, 2)} s; {rounded(self.store_bytes / 1e6, 2)} MB in the store"
        )

    def advice(self) -> list[str]:
        """Return the alternatives where searching or writing would take hours."""
        lines = []
        if self.compute_seconds >= LONG_SECONDS:
            lines.append(
                f"The search takes {self.compute_seconds / 3600:,.1f} hours on this machine "
                f"({self.compute_seconds_low / 3600:,.1f} to {self.compute_seconds_high / 3600:,.1f}). On a cluster "
                f"(--scheduler) it is {self.tasks:,} tasks of {TASK_SECONDS} seconds, and a worker needs "
                f"{self.worker_bytes / 1e9:,.1f} GB with one thread, and {self.thread_bytes / 1e9:,.1f} GB more for "
                "each further one. Or write parts on several machines: --mode stream --to FOLDER --part I/N."
            )
        if self.write_seconds >= LONG_SECONDS:
            size = "" if self.parquet_bytes is None else f", {self.parquet_bytes / 1e9:,.1f} GB"
            lines.append(
                f"Writing takes {self.write_seconds / 3600:,.1f} hours ({self.write_seconds_low / 3600:,.1f} to "
                f"{self.write_seconds_high / 3600:,.1f}) and {self.store_bytes / 1e9:,.1f} GB of the store; files "
                f"(--mode stream --to FOLDER{size}) take only as long as the search."
            )
        return lines


@dataclass(frozen=True, repr=False)
class EstimateResult(TableByP):
    """What `write` would cost.

    Attributes:
        read_seconds: how long choosing, checking and reading took now.
        estimates: by p, as `a/b`.
        node_count, relationship_count, vertices, edges, configuration: as in `WriteResult`.
    """

    _title = "Estimates"
    _holds = "estimates"

    node_count: int
    relationship_count: int
    vertices: int
    edges: int
    read_seconds: float
    estimates: dict[str, Estimate]
    configuration: Configuration

    def caption(self) -> str:
        """Return a sentence to put above the table."""
        return f"{self.vertices:,} vertices, {self.edges:,} edges; nothing was written"


def estimate(db: Database, **asked: Unpack[Asked]) -> EstimateResult:
    """Estimate what `write` would cost, from a sample of vertices; nothing is written.

    Returns:
        An estimate for each p.
    """
    for name in ("vertices", "scheduler"):
        if asked.get(name) is not None:
            raise ParameterError(f"estimate is for the whole graph; leave {name} out.", name=name, value=None)
    plan = make_plan(db, "estimate", **asked)
    supply = WholeGraph(plan).read()
    read_seconds = plan.millis() / 1000
    has_index = not missing_key_indexes(plan.db, plan.selection)
    return EstimateResult(
        **size_of(supply),
        read_seconds=read_seconds,
        estimates={str(s.p): _estimate(plan, supply, s, read_seconds, has_index=has_index) for s in plan.searches},
        configuration=plan.configuration,
    )


def estimate_memberships(supply: Supply, search: Search, beyond: int) -> int:
    """Estimate how many memberships a run would have; 0 where there cannot be more than a bound."""
    memberships = supply.estimate(search, beyond, most=SAMPLE, seconds=SAMPLE_SECONDS)
    return 0 if memberships is None else round(memberships.value)


def check_storable(supply: Supply, search: Search) -> None:
    """Refuse to write more memberships than a store should take."""
    memberships = supply.estimate(search, MOST_STORED, most=64, seconds=1.0)
    if memberships is not None and memberships.low > MOST_STORED:
        number = float(f"{memberships.value:.2g}")
        raise GraphError(
            f"p={search.p}: the cohesions of this graph have about {number:,.0f} memberships, which would take "
            f"{number / WRITE_RATE / 3600:,.0f} hours to write; the most that pcneo writes to a store is "
            f"{MOST_STORED:,}. Nothing was written. Write them to files (--mode stream --to FOLDER), choose a smaller "
            "p, whose cohesions are smaller, or name vertices (--vertex, in Python `vertices`).",
            memberships=round(memberships.value),
            p=str(search.p),
        )


def _estimate(plan: Plan, supply: WholeGraph, search: Search, read_seconds: float, *, has_index: bool) -> Estimate:
    """Estimate from a sample with a fixed seed: sizes come out the same each time, if there was time for all of it."""
    graph, threads = supply.graph, plan.concurrency
    sample = draw_sample(graph, search, most=SAMPLE, seconds=SAMPLE_SECONDS, concurrency=threads, check=plan.check)
    n, memberships, searching = graph.vertex_count, sample.memberships(), sample.search_seconds()
    bounded = Interval(memberships.value, max(n, memberships.low), min(n * n, memberships.high))
    pace = 1 / (WRITE_RATE * WRITING)  # assumed without an index, which `write` requires
    if has_index:
        pace = membership_seconds(plan.db, plan.selection, sample.batches)
    write = writing(n, bounded, pace)
    compute_seconds = searching.value / threads
    worker_bytes, thread_bytes = memory_of_worker(n, len(graph.neighbours), int(graph.degrees.max(initial=0)))
    result = Estimate(
        sampled=len(sample.sizes),
        memberships=round(memberships.value),
        memberships_low=math.floor(bounded.low),
        memberships_high=math.ceil(bounded.high),
        compute_seconds=compute_seconds,
        compute_seconds_low=searching.low / threads,
        compute_seconds_high=searching.high / threads,
        write_seconds=write.value,
        write_seconds_low=write.low,
        write_seconds_high=write.high,
        total_seconds=read_seconds + max(compute_seconds, write.value),
        store_bytes=round(memberships.value * MEMBERSHIP_BYTES + n * HUB_BYTES),
        parquet_bytes=_parquet_bytes(sample, graph, memberships.value),
        tasks=max(1, math.ceil(searching.value / TASK_SECONDS)),
        worker_bytes=worker_bytes,
        thread_bytes=thread_bytes,
        log_bytes=_log_bytes(LOG_BYTES, memberships.value, n),
        removal_log_bytes=_log_bytes(REMOVAL_LOG_BYTES, memberships.value, n),
    )
    if memberships.high >= MANY:
        log.warning(
            "p=%s would store about %s memberships, at most %s: %.1f GB and %.0f minutes of writing. A smaller p "
            "gives smaller cohesions, or you can name single vertices.",
            search.p,
            f"{memberships.value:,.0f}",
            f"{result.memberships_high:,}",
            result.store_bytes / 1e9,
            write.value / 60,
        )
    return result


def membership_seconds(db: Database, selection: Selection, batches: Iterable[CohesionBatch]) -> float:
    """Return the seconds that finding a member takes, with as many sessions as write; 0.0 without memberships."""
    rows, memberships = _rows(batches)
    if not memberships:
        return 0.0
    seconds: list[float] = []
    started = time.perf_counter()
    with ThreadPoolExecutor(WRITERS) as pool:
        while len(seconds) <= FEWEST_TRIALS or (
            len(seconds) < MOST_TRIALS and time.perf_counter() - started < TRIAL_SECONDS
        ):
            began = time.perf_counter()
            list(pool.map(lambda _: db.count_members(selection, rows), range(WRITERS)))
            seconds.append(time.perf_counter() - began)
    return median(seconds[len(seconds) // 2 :]) / (WRITERS * memberships)


def writing(hubs: int, memberships: Interval, a_membership: float) -> Interval:
    """Return the seconds that writing takes, with an interval."""
    value, low, high = (
        UPDATE_SECONDS + WRITING * a_membership * (hubs + count)
        for count in (memberships.value, memberships.low, memberships.high)
    )
    return Interval(value, low / DOUBT, high * DOUBT)


def _rows(batches: Iterable[CohesionBatch]) -> tuple[Sequence[dict[str, Any]], int]:
    """Return as many cohesions as a trial needs, repeated where there are too few, and how many memberships they have.

    Every transaction has a fixed cost, so a small one says little about a large one.
    """
    rows: list[dict[str, Any]] = []
    memberships = 0
    for batch in batches:
        for cohesion in batch.cohesions():
            members = list(cohesion.members[: TRIAL_MEMBERSHIPS - memberships])
            rows.append({"vertex": cohesion.vertex, "members": members})
            memberships += len(members)
            if memberships >= TRIAL_MEMBERSHIPS:
                return rows, memberships
    times = TRIAL_MEMBERSHIPS // max(memberships, 1)
    return rows * times, memberships * times


def _log_bytes(each: tuple[int, int], memberships: float, hubs: int) -> int:
    return round(each[0] * memberships + each[1] * hubs)


def memory_of_worker(vertices: int, arcs: int, degree: int) -> tuple[int, int]:
    """Return about how many bytes a cluster worker needs with one thread, and for each further thread."""
    thread = vertices * THREAD_VERTEX_BYTES + degree * NEIGHBOUR_BYTES + ANSWER_BYTES
    return PROCESS_BYTES + vertices * VERTEX_BYTES + 4 * arcs + thread, thread


def _parquet_bytes(sample: Sample, graph: Graph, memberships: float) -> int | None:
    """Scale up the bytes that the sampled cohesions take in a file."""
    try:
        check_parquet()
    except PcneoError:
        return None
    kept = sum(len(batch.members) for batch in sample.batches)
    return round(bytes_in_file(sample.batches, graph.keys) * memberships / kept) if kept else 0
