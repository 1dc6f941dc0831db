"""Minimal p-cohesions: exact thresholds, the kernel, and a check of every answer (algorithms.md sections 2 to 5).

Nothing here knows a database. Further rows of a graph that is not at hand come through a callable.
"""

from __future__ import annotations

import logging
import os
import queue
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numba.core.event import Event, Listener, install_listener
from numpy.typing import NDArray

from pcneo.errors import AnswerError, GraphChangedError, NotFoundError, ParameterError
from pcneo.graph import PartialGraph
from pcneo.kernels.check import CONNECTED, HOLDS_QUERIED, MINIMAL, NEEDS_MET, SOUND, check_cohesions
from pcneo.kernels.cohesion import DEGREE, DENSITY, Rows, Workspace, minimal_cohesions, workspace
from pcneo.model import Cohesion, CohesionBatch, Graph, Key

if TYPE_CHECKING:
    import networkx

__all__ = [
    "SCORES",
    "check_score",
    "minimal_p_cohesion",
    "minimal_p_cohesions",
    "p_text",
    "parse_fraction",
    "search_batches",
    "search_streamed",
    "thresholds",
]

log = logging.getLogger("pcneo")

SCORES = {"density": DENSITY, "degree": DEGREE}
"""The scores that can rank an expansion (algorithms.md section 4), by name, and what the kernel calls them.

`degree` is a reconstruction of the 2021 baseline and must be called one wherever it is reported.
"""

Fetch = Callable[[list[Key]], Iterable[tuple[Key, Sequence[Key]]]]
Progress = Callable[[int, int], None]

_RANGE_SECONDS = 0.05  # short enough to interrupt and to balance, long enough that its overhead does not show
_RANGES_AHEAD = 3  # of each thread, so that a slow consumer holds memory back and a quick one never waits
_CACHED_ARCS = 200_000  # neighbours kept between the vertices of one streamed search
_SMALLEST_EXPONENT = -10_000  # of p; anything smaller is a slip, and its digits would fill the memory


# --- Section 2: p and the thresholds


def parse_fraction(p: object) -> Fraction:
    """Return p exactly as it is written: `"0.3"`, `"3/10"`, a Decimal, a Fraction, or a float through its `repr`.

    Raises:
        ParameterError: p is not a number, or not between 0 and 1, both excluded.
    """
    try:
        fraction = _fraction(p)
    except (ValueError, ArithmeticError):
        fraction = None
    if fraction is None or not 0 < fraction < 1:
        raise ParameterError(
            f"p must be a number between 0 and 1, both excluded, such as 0.3 or 1/3, not {p!r}.", name="p", value=p
        )
    return fraction


def _fraction(p: object) -> Fraction | None:
    """Return p as a fraction, or None where it is nothing that can be one."""
    if isinstance(p, Fraction):
        return p
    if isinstance(p, str) and "/" in p:
        return Fraction(p)
    if isinstance(p, str | float | Decimal):
        number = Decimal(p if isinstance(p, Decimal) else str(p))
        if number.is_finite() and _SMALLEST_EXPONENT < number.adjusted() < 0:
            return Fraction(number)
    return None


def p_text(p: Fraction) -> str:
    """Return the canonical text of p, `a/b` in lowest terms, which is its identity in the database."""
    return f"{p.numerator}/{p.denominator}"


def thresholds(p: Fraction, degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return need(v) = ceil(p·deg(v)) for each degree, int64, exact for any p."""
    largest = int(degrees.max(initial=0))
    table = [-(-p.numerator * degree // p.denominator) for degree in range(largest + 1)]
    return np.array(table, np.int64)[degrees]


def check_score(score: str) -> int:
    """Return what the kernel calls a score.

    Raises:
        ParameterError: there is no score of that name.
    """
    if score not in SCORES:
        raise ParameterError(f"score must be one of {', '.join(SCORES)}, not {score!r}.", name="score", value=score)
    return SCORES[score]


# --- One range of vertices: search, order, check


@dataclass(frozen=True, eq=False)
class _Memory:
    """What one thread works in."""

    work: Workspace
    place: NDArray[np.int64]

    @classmethod
    def of(cls, graph: Graph) -> _Memory:
        return cls(
            workspace(graph.vertex_count, int(graph.degrees.max(initial=0))), np.zeros(graph.vertex_count, np.int64)
        )


@dataclass(frozen=True)
class _Task:
    """What is searched for: p, a score, and how thoroughly answers are checked."""

    p: Fraction
    score: str
    check: bool

    def batch(
        self, graph: Graph, need: NDArray[np.int64], queries: NDArray[np.int64], memory: _Memory
    ) -> tuple[CohesionBatch, NDArray[np.uint32]]:
        """Search `queries` in turn until the neighbours of a vertex are not known; return answers, missing vertices."""
        rows = Rows(graph.offsets, graph.neighbours, need)
        ends, members, missing = minimal_cohesions(rows, check_score(self.score), queries, memory.work)
        found = queries[: len(ends)]
        sizes = np.diff(ends, prepend=0)
        ordered = np.repeat(np.arange(len(ends)), sizes) << 32 | members
        ordered.sort()
        members = ordered.astype(np.uint32)
        edges, fault = check_cohesions(*rows, found, ends, members, self.check, memory.place)
        if fault[1] != SOUND:
            raise _answer_error(graph, self, found[fault[0]], fault[1], fault[2])
        offsets = np.concatenate((np.zeros(1, np.int64), ends))
        return CohesionBatch(self.p, self.score, found, offsets, members, edges), missing


_CONDITIONS = {
    HOLDS_QUERIED: "does not hold the queried vertex",
    NEEDS_MET: "gives vertex {vertex!r} fewer neighbours than it needs",
    CONNECTED: "does not connect vertex {vertex!r}",
    MINIMAL: "is not minimal: vertex {vertex!r} can be left out",
}


def _answer_error(graph: Graph, task: _Task, query: int, condition: int, vertex: int) -> AnswerError:
    queried, vertex_key = graph.keys[[query, vertex]].tolist()
    failed = _CONDITIONS[condition].format(vertex=vertex_key)
    return AnswerError(
        f"The set computed for vertex {queried!r} at p={p_text(task.p)}, score {task.score}, {failed}. "
        "This is a fault in pcneo; please report it.",
        vertex=queried,
        condition=failed,
    )


# --- Every vertex of a graph at hand


def search_batches(
    graph: Graph,
    p: object,
    score: str = "density",
    *,
    vertices: Iterable[int] | None = None,
    concurrency: int | None = None,
    check: bool = False,
    progress: Progress | None = None,
) -> Iterator[CohesionBatch]:
    """Yield minimal p-cohesions in ascending order of their vertices, a few ahead of the consumer.

    Args:
        graph: the graph.
        p: as `parse_fraction` takes it.
        score: a name in `SCORES`.
        vertices: positions in `graph.keys`; all of them if not given.
        concurrency: number of threads; the cores at hand if not given.
        check: whether to check also that each answer is minimal. That it holds its vertex, meets every need and is
            connected is checked always.
        progress: called, from the consumer's thread, with the number of vertices done and of all.

    Raises:
        ParameterError: p, score, vertices or concurrency is out of range.
        AnswerError: an answer failed its check.
    """
    task = _Task(parse_fraction(p), score, check)
    check_score(score)
    queries = _queries(graph, vertices)
    threads = _threads(concurrency)
    return _search(graph, task, queries, threads, progress or (lambda done, total: None))


def minimal_p_cohesions(
    graph: Graph,
    p: object,
    score: str = "density",
    *,
    vertices: Iterable[int] | None = None,
    concurrency: int | None = None,
    check: bool = False,
    progress: Progress | None = None,
) -> CohesionBatch:
    """Return what `search_batches` yields as one batch."""
    batches = list(
        search_batches(graph, p, score, vertices=vertices, concurrency=concurrency, check=check, progress=progress)
    )
    sizes = [batch.sizes for batch in batches]
    return CohesionBatch(
        p=parse_fraction(p),
        score=score,
        vertices=np.concatenate([np.empty(0, np.int64), *(batch.vertices for batch in batches)]),
        offsets=np.concatenate([np.zeros(1, np.int64), *sizes]).cumsum(),
        members=np.concatenate([np.empty(0, np.uint32), *(batch.members for batch in batches)]),
        edges=np.concatenate([np.empty(0, np.int64), *(batch.edges for batch in batches)]),
    )


def _queries(graph: Graph, vertices: Iterable[int] | None) -> NDArray[np.int64]:
    if vertices is None:
        return np.arange(graph.vertex_count)
    queries = np.unique(np.fromiter(vertices, np.int64))
    if len(queries) and not 0 <= queries[0] <= queries[-1] < graph.vertex_count:
        raise ParameterError(
            f"vertices must be positions from 0 to {graph.vertex_count - 1}.", name="vertices", value=queries.tolist()
        )
    return queries


def _threads(concurrency: int | None) -> int:
    if concurrency is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if concurrency < 1:
        raise ParameterError(
            f"concurrency must be 1 or more, not {concurrency}.", name="concurrency", value=concurrency
        )
    return concurrency


def _search(
    graph: Graph, task: _Task, queries: NDArray[np.int64], threads: int, progress: Progress
) -> Iterator[CohesionBatch]:
    """Run ranges of about equal cost on threads; the range's length follows the time the last one took."""
    _compile()
    need = thresholds(task.p, graph.degrees)
    memories: queue.SimpleQueue[_Memory] = queue.SimpleQueue()
    for _ in range(threads):
        memories.put(_Memory.of(graph))

    def run(part: NDArray[np.int64]) -> tuple[CohesionBatch, float]:
        start, memory = time.perf_counter(), memories.get()
        batch, _ = task.batch(graph, need, part, memory)
        memories.put(memory)
        return batch, time.perf_counter() - start

    started, done, length = 0, 0, 16
    running: deque[Future[tuple[CohesionBatch, float]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            while done < len(queries):
                while started < len(queries) and len(running) < _RANGES_AHEAD * threads:
                    running.append(pool.submit(run, queries[started : started + length]))
                    started += length
                batch, seconds = running.popleft().result()
                length = max(1, min(4 * length, int(len(batch) * _RANGE_SECONDS / seconds)))
                done += len(batch)
                progress(done, len(queries))
                yield batch
        finally:
            for future in running:
                future.cancel()


@cache
def _compile() -> None:
    """Compile the kernels, or load them from numba's cache; a compilation is announced before it starts."""
    edge = Graph(np.arange(2), np.arange(3), np.array([1, 0], np.uint32))
    with install_listener("numba:compile", _Announcement()):
        _Task(Fraction(1, 2), "density", check=True).batch(edge, np.ones(2, np.int64), np.arange(2), _Memory.of(edge))


class _Announcement(Listener):
    """Says once, when numba starts to compile, that this takes a while."""

    def __init__(self) -> None:
        self.made = False

    def on_start(self, event: Event) -> None:
        if not self.made:
            self.made = True
            log.warning("Compiling the search for this machine; this takes some seconds, once.")

    def on_end(self, event: Event) -> None:
        pass


# --- A few vertices of a graph that is elsewhere


def search_streamed(
    fetch: Fetch, vertices: Iterable[Key], p: object, score: str = "density", *, check: bool = False
) -> Iterator[Cohesion]:
    """Yield the minimal p-cohesion of each vertex, reading only the neighbourhoods that its expansion looks at.

    The answers are those of `search_batches` on the whole graph. Each step of an expansion asks once, for all the
    neighbourhoods it lacks; some are kept from one vertex to the next.

    Args:
        fetch: takes keys and gives (key, keys of all neighbours, each once) for those that exist, in any order.
        vertices: keys, in the order in which the answers are wanted.
        p, score, check: as in `search_batches`.

    Raises:
        ParameterError: p or score is out of range.
        NotFoundError: a vertex that was asked for does not exist.
        GraphChangedError: the graph changed between two fetches.
        KeyPropertyError: keys are of mixed or unusable kinds.
        AnswerError: an answer failed its check.
    """
    task = _Task(parse_fraction(p), score, check)
    check_score(score)
    return _stream(fetch, vertices, task)


def _stream(fetch: Fetch, vertices: Iterable[Key], task: _Task) -> Iterator[Cohesion]:
    _compile()
    partial = PartialGraph()
    for vertex in vertices:
        if partial.arc_count > _CACHED_ARCS:
            partial = PartialGraph()
        _fetch_missing(fetch, partial, [vertex])
        if vertex not in partial:
            raise NotFoundError(f"There is no vertex {vertex!r} in the graph.", what="vertex", name=vertex)
        yield _stream_one(fetch, partial, vertex, task)


def _stream_one(fetch: Fetch, partial: PartialGraph, vertex: Key, task: _Task) -> Cohesion:
    """Search on what is known, fetch what that lacked, and search again from the start, until nothing is lacking."""
    while True:
        graph, known = partial.graph()
        need = np.where(known, thresholds(task.p, graph.degrees), -1)
        batch, missing = task.batch(graph, need, np.searchsorted(graph.keys, [vertex]), _Memory.of(graph))
        if len(batch):
            return next(batch.cohesions(graph))
        wanted = graph.keys[missing].tolist()
        _fetch_missing(fetch, partial, wanted)
        for key in wanted:
            if key not in partial:
                raise GraphChangedError(
                    f"Vertex {key!r} was a neighbour and is gone; the graph changed while it was read, "
                    "so run the query again.",
                    vertex=key,
                )


def _fetch_missing(fetch: Fetch, partial: PartialGraph, keys: list[Key]) -> None:
    missing = [key for key in keys if key not in partial]
    if missing:
        partial.add(fetch(missing))


def minimal_p_cohesion(graph: networkx.Graph[Any], source: Key, p: object, score: str = "density") -> Cohesion:
    """Return the minimal p-cohesion of one node of a networkx graph, whose nodes must be integers or strings.

    Directions, parallel edges and self-loops are ignored. Only the part of the graph that the search looks at is read.

    Raises:
        ParameterError: p or score is out of range.
        NotFoundError: the graph has no such node.
        KeyPropertyError: nodes are of mixed or unusable kinds.
        AnswerError: the answer failed its check.
    """
    undirected = graph.to_undirected(as_view=True)

    def fetch(keys: list[Key]) -> list[tuple[Key, list[Key]]]:
        return [(key, list(undirected[key])) for key in keys if key in undirected]

    return next(search_streamed(fetch, [source], p, score))
