"""Search every vertex of a graph in memory, on all cores."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import CohesionBatch, Graph, Progress
from pcneo.basics.searches import DEFAULT_SEARCH, AnyP, Search
from pcneo.basics.stopping import stop_flag
from pcneo.errors import ParameterError
from pcneo.kernels.cohesion import Workspace
from pcneo.kernels.threads import thread_count
from pcneo.search.cohesion import Searched, make_task

Advance = Callable[[int, int], None]
"""Called as `progress(done, total)`, with numbers of vertices."""
T = TypeVar("T")

_RANGE_SECONDS = 0.05  # short enough to interrupt and to balance, long enough that its overhead does not show
_RANGES_AHEAD = 3  # per thread: a slow consumer holds the threads back, a quick one seldom waits
_STILL_SECONDS = 0.5
_GROWTH = 4  # times as long as the range before, at most


def search_progress(progress: Progress, search: Search) -> Advance:
    """Return a callback for a search, which names its p as the stage."""
    return lambda done, total: progress(f"searching p={search.p}", done, total)


def search_batches(
    graph: Graph,
    search: Search,
    *,
    vertices: Iterable[int] | None = None,
    concurrency: int | None = None,
    check: bool = False,
    progress: Advance | None = None,
) -> Iterator[CohesionBatch]:
    """Yield minimal p-cohesions in ascending order of their vertices, a few batches ahead of the consumer."""
    queries, threads = queried_positions(graph, vertices), thread_count(concurrency)
    task = make_task(search, check, int(graph.degrees.max(initial=0)))
    searched = Searched.of(graph, search.p)
    return in_ranges(queries, lambda part, work: task.run(searched, part, work), searched.workspace, threads, progress)


def search_all(
    graph: Graph,
    p: AnyP,
    search: str = DEFAULT_SEARCH,
    *,
    vertices: Iterable[int] | None = None,
    effort: int = 1,
    concurrency: int | None = None,
    check: bool = False,
    progress: Advance | None = None,
) -> CohesionBatch:
    """Do what `search_batches` does, and return one batch."""
    wanted = Search(p, search, effort)
    batches = list(
        search_batches(graph, wanted, vertices=vertices, concurrency=concurrency, check=check, progress=progress)
    )
    return CohesionBatch(
        search=wanted,
        vertices=np.concatenate([np.empty(0, np.int64), *(batch.vertices for batch in batches)]),
        offsets=np.concatenate([np.zeros(1, np.int64), *(batch.sizes for batch in batches)]).cumsum(),
        members=np.concatenate([np.empty(0, np.uint32), *(batch.members for batch in batches)]),
        edges=np.concatenate([np.empty(0, np.int64), *(batch.edges for batch in batches)]),
        keys=graph.keys,
        proven=np.concatenate([np.empty(0, np.bool_), *(batch.proven for batch in batches)]),
        best=np.concatenate([np.empty(0, np.bool_), *(batch.best for batch in batches)]),
    )


def queried_positions(graph: Graph, vertices: Iterable[int] | None) -> NDArray[np.int64]:
    """Return the positions of the queried vertices, int64, ascending and distinct."""
    if vertices is None:
        return np.arange(graph.vertex_count)
    positions = np.unique(vertices) if isinstance(vertices, np.ndarray) else sorted(set(vertices))
    if len(positions) and not 0 <= positions[0] <= positions[-1] < graph.vertex_count:
        raise ParameterError(
            f"vertices must be positions from 0 to {graph.vertex_count - 1}, not {positions[0]} or {positions[-1]}.",
            name="vertices",
            value=positions,
        )
    return np.array(positions, np.int64)


def in_ranges(
    queries: NDArray[np.int64],
    work_on: Callable[[NDArray[np.int64], Workspace], T],
    allocate: Callable[[NDArray[np.uint8]], Workspace],
    threads: int,
    progress: Advance | None,
) -> Iterator[T]:
    """Work on ranges of vertices of about equal cost: the time of the last one to end decides how long the next is.

    Yields:
        What `work_on` returns, range after range.
    """
    own, stop = threading.local(), np.zeros(1, np.uint8)

    def begin() -> None:
        own.work = allocate(stop)

    def run(part: NDArray[np.int64]) -> tuple[T, int, float]:
        start = time.perf_counter()
        result = work_on(part, own.work)
        return result, len(part), time.perf_counter() - start

    def still() -> None:
        if flag[0] > 0:
            raise CancelledError
        if progress is not None:
            progress(done, len(queries))

    flag = stop_flag()
    started, done, length = 0, 0, 1
    running: deque[Future[tuple[T, int, float]]] = deque()
    with ThreadPoolExecutor(threads, initializer=begin) as pool:
        try:
            while done < len(queries):
                while started < len(queries) and len(running) < _RANGES_AHEAD * threads:
                    running.append(pool.submit(run, queries[started : started + length]))
                    started += length
                result, count, seconds = _awaited(running.popleft(), still)
                length = max(1, min(_GROWTH * length, int(count * _RANGE_SECONDS / seconds)))
                done += count
                still()
                yield result
        finally:
            stop[0] = 1  # what runs now ends soon, however large its sets are
            for future in running:
                future.cancel()


def _awaited(future: Future[T], still: Callable[[], object]) -> T:
    """Return a result, and call `still` now and then if a range takes long: it may raise an error to end the search."""
    while not wait([future], _STILL_SECONDS).done:
        still()
    return future.result()
