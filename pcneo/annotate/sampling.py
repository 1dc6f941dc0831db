"""A sample of a graph's vertices, searched within a few seconds: sizes, times, and how sure one can be of both."""

from __future__ import annotations

import math
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pcneo.model import CohesionBatch, Graph
from pcneo.search.cohesion import Searched, Task, make_task

__all__ = ["Interval", "Sample", "draw_sample"]

CHUNK_SECONDS, MOST_IN_CHUNK = 0.01, 16
"""Vertices are searched together where each takes so little that starting their search would count."""
KEPT_MEMBERSHIPS = 5_000_000
"""Beyond so many, no further cohesions are kept for `Sample.batches`."""


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
        population: vertices of the graph.
        sizes: members of each sampled cohesion.
        seconds: that each chunk of vertices took on one thread.
        counts: vertices of each chunk.
        batches: the cohesions, or some of them.
    """

    population: int
    sizes: NDArray[np.float64]
    seconds: NDArray[np.float64]
    counts: NDArray[np.float64]
    batches: list[CohesionBatch]

    def memberships(self) -> Interval:
        """Estimate the memberships of all cohesions."""
        return self._total(self.sizes, np.ones(len(self.sizes)))

    def search_seconds(self) -> Interval:
        """Estimate the seconds that the search of all vertices takes on one thread."""
        return self._total(self.seconds, self.counts)

    def _total(self, sums: NDArray[np.float64], counts: NDArray[np.float64]) -> Interval:
        """Estimate the sum over the population by the ratio of sums over chunks of vertices, with Student's t."""
        n, drawn, chunks = self.population, counts.sum(), len(counts)
        if not chunks:
            return Interval(0.0, 0.0, 0.0)
        mean = sums.sum() / drawn
        if chunks < 2:
            return Interval(n * mean, 0.0 if drawn < n else n * mean, math.inf if drawn < n else n * mean)
        spread = float(((sums - mean * counts) ** 2).sum()) / (chunks - 1)
        error = n * _student(chunks - 1) * math.sqrt(spread * chunks * (1 - drawn / n)) / drawn
        return Interval(n * mean, max(0.0, n * mean - error), n * mean + error)


def draw_sample(
    graph: Graph, p: Fraction, score: str, *, most: int, seconds: float, concurrency: int, check: bool = False
) -> Sample:
    """Search vertices drawn at random until there are enough, or the time is over; two draws take the same order.

    Args:
        graph: the graph.
        p, score, check: what is searched for.
        most: vertices that are enough.
        seconds: after which no further ones are begun. One for each thread is searched, however long it takes.
        concurrency: threads.
    """
    n = graph.vertex_count
    task = make_task(p, score, check, int(graph.degrees.max(initial=0)))
    drawn = np.random.default_rng(0).choice(n, size=min(most, n), replace=False)
    searched = Searched.of(graph, task.p)
    search = _Searching(task, searched)
    done: list[tuple[CohesionBatch, float]] = []
    running: set[Future[tuple[CohesionBatch, float]]] = set()
    started, at = time.perf_counter(), 0
    with ThreadPoolExecutor(concurrency) as pool:
        while running or at < len(drawn):
            late = done and time.perf_counter() - started > seconds
            while not late and at < len(drawn) and len(running) < concurrency:
                length = _chunk(done)
                running.add(pool.submit(search, np.sort(drawn[at : at + length])))
                at += length
            if not running:
                break
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            done += [future.result() for future in ended]
    kept = np.cumsum([len(batch.members) for batch, _ in done]) <= KEPT_MEMBERSHIPS
    return Sample(
        population=n,
        sizes=np.concatenate([np.empty(0), *(batch.sizes.astype(np.float64) for batch, _ in done)]),
        seconds=np.array([took for _, took in done], np.float64),
        counts=np.array([len(batch) for batch, _ in done], np.float64),
        batches=[batch for (batch, _), keep in zip(done, kept, strict=True) if keep] or [b for b, _ in done[:1]],
    )


class _Searching:
    """Searches on any thread, in memory that each thread has of its own."""

    def __init__(self, task: Task, searched: Searched) -> None:
        self._task, self._searched = task, searched
        self._own = threading.local()

    def __call__(self, queries: NDArray[np.int64]) -> tuple[CohesionBatch, float]:
        if not hasattr(self._own, "work"):
            self._own.work = self._searched.workspace()
        started = time.perf_counter()
        batch = self._task.run(self._searched, queries, self._own.work)
        return batch, time.perf_counter() - started


def _chunk(done: list[tuple[CohesionBatch, float]]) -> int:
    if not done:
        return 1
    cost = sum(took for _, took in done) / sum(len(batch) for batch, _ in done)
    return max(1, min(MOST_IN_CHUNK, int(CHUNK_SECONDS / max(cost, 1e-9))))


def _student(freedom: int) -> float:
    """Return the 97.5 % point of Student's t, by the expansion of Cornish and Fisher; within 2 % from 3 degrees on."""
    z = 1.959964
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3
