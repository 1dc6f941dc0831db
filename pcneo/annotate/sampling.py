"""A sample of a graph's vertices, searched within a few seconds: sizes, times, and how certain both are."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import CohesionBatch, Graph
from pcneo.basics.searches import Search
from pcneo.basics.stopping import stop_flag
from pcneo.search.cohesion import Searched, Task, make_task

CHUNK_SECONDS = 0.01
"""Vertices are searched in chunks of about this long where each is so quick that starting a search would count."""
TIMED_SECONDS, MOST_TIMED, FEWEST_CHUNKS = 1.0, 20_000, 8
"""Where searches are quick, stretches of vertices are timed for this long: single random ones find cold caches."""
KEPT_MEMBERSHIPS = 5_000_000
"""Beyond this many, no more cohesions are kept for `Sample.batches`."""


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Sample:
    """A simple random sample without replacement.

    Attributes:
        population: number of vertices in the graph.
        sizes: members of each sampled cohesion.
        seconds: processor seconds that each chunk of vertices took.
        counts: vertices in each of these chunks.
        batches: the cohesions, or some of them.
        repeats: whether chunks may have vertices in common.
    """

    population: int
    sizes: NDArray[np.float64]
    seconds: NDArray[np.float64]
    counts: NDArray[np.float64]
    batches: list[CohesionBatch]
    repeats: bool = False

    def memberships(self) -> Interval:
        """Estimate the memberships of all cohesions."""
        return self._total(self.sizes, np.ones(len(self.sizes)), repeats=False)

    def search_seconds(self) -> Interval:
        """Estimate the seconds that searching all vertices takes on one undisturbed thread."""
        return self._total(self.seconds, self.counts, repeats=self.repeats)

    def _total(self, sums: NDArray[np.float64], counts: NDArray[np.float64], *, repeats: bool) -> Interval:
        """Estimate the sum over the population by the ratio of sums over chunks of vertices, with Student's t."""
        n, drawn, chunks = self.population, float(counts.sum()), len(counts)
        if not chunks:
            return Interval(0.0, 0.0, 0.0)
        mean = float(sums.sum()) / drawn
        if chunks < 2:
            return Interval(n * mean, 0.0 if drawn < n else n * mean, math.inf if drawn < n else n * mean)
        spread = float(((sums - mean * counts) ** 2).sum()) / (chunks - 1)
        error = n * _student(chunks - 1) * math.sqrt(spread * chunks * (1 if repeats else 1 - drawn / n)) / drawn
        return Interval(n * mean, max(0.0, n * mean - error), n * mean + error)


def draw_sample(
    graph: Graph,
    search: Search,
    *,
    most: int,
    seconds: float,
    concurrency: int,
    check: bool = False,
    timed: bool = True,
) -> Sample:
    """Search vertices drawn at random until there are enough, or time is up; every draw takes the same order."""
    task = make_task(search, check, int(graph.degrees.max(initial=0)))
    n = graph.vertex_count
    random = np.random.default_rng(0)
    drawn = random.choice(n, size=min(most, n), replace=False)
    # vertices next to each other by key are often neighbours in the graph, so the processor has their rows in cache
    starts: list[int] = random.integers(0, max(1, n), MOST_TIMED if timed and n > most else 0).tolist()
    searching = _Searching(task, Searched.of(graph, search.p))
    began = time.perf_counter()
    with ThreadPoolExecutor(concurrency) as pool:
        sampled = _search(
            pool, concurrency, searching, (lambda at, length: drawn[at : at + length], len(drawn), 16), began + seconds
        )
        stretch = (lambda at, length: np.arange(starts[at], min(starts[at] + length, n)), len(starts), 1_000)
        further = _search(pool, concurrency, searching, stretch, began + TIMED_SECONDS, sampled)
    chunks = further if len(further) >= FEWEST_CHUNKS else sampled + further
    kept = np.cumsum([len(batch.members) for batch, _ in sampled]) <= KEPT_MEMBERSHIPS
    return Sample(
        population=n,
        sizes=np.concatenate([np.empty(0), *(batch.sizes.astype(np.float64) for batch, _ in sampled)]),
        seconds=np.array([took for _, took in chunks], np.float64),
        counts=np.array([len(batch) for batch, _ in chunks], np.float64),
        batches=[batch for (batch, _), keep in zip(sampled, kept, strict=True) if keep] or [b for b, _ in sampled[:1]],
        repeats=bool(further),
    )


_Chunks = list[tuple[CohesionBatch, float]]


def _search(
    pool: ThreadPoolExecutor,
    threads: int,
    search: _Searching,
    vertices: tuple[Callable[[int, int], NDArray[np.int64]], int, int],
    end: float,
    before: _Chunks | None = None,
) -> _Chunks:
    """Search chunks of vertices until all are done or time is up; with nothing done before, at least one a thread."""
    take, total, longest = vertices
    done: _Chunks = []
    running: set[Future[tuple[CohesionBatch, float]]] = set()
    at = 0
    while True:
        late = bool(done or before) and time.perf_counter() > end
        while not late and at < total and len(running) < threads:
            length = _chunk(done or before or [], longest)
            running.add(pool.submit(search, np.sort(take(at, length))))
            at += length
        if not running:
            return done
        ended, running = wait(running, return_when=FIRST_COMPLETED)
        done += [future.result() for future in ended]


class _Searching:
    """Searches on any thread, each thread in its own memory."""

    def __init__(self, task: Task, searched: Searched) -> None:
        self._task, self._searched = task, searched
        self._own = threading.local()
        self._stop = stop_flag()

    def __call__(self, queries: NDArray[np.int64]) -> tuple[CohesionBatch, float]:
        if not hasattr(self._own, "work"):
            self._own.work = self._searched.workspace(self._stop)
        started = time.thread_time()
        batch = self._task.run(self._searched, queries, self._own.work)
        return batch, time.thread_time() - started


def _chunk(done: _Chunks, longest: int) -> int:
    if not done:
        return 1
    cost = sum(took for _, took in done) / sum(len(batch) for batch, _ in done)
    return max(1, min(longest, int(CHUNK_SECONDS / max(cost, 1e-9))))


def _student(freedom: int) -> float:
    """Return the 97.5 % point of Student's t by the Cornish-Fisher expansion; within 2 % from 3 degrees of freedom."""
    z = 1.959964
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3
