"""A graph that the workers of a cluster search: tasks are cut, sent, and collected in order."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import CohesionBatch, Graph
from pcneo.basics.searches import Search
from pcneo.errors import AnswerError, ClusterError
from pcneo.search.cluster import remote
from pcneo.search.cluster.graph_image import GraphImage
from pcneo.search.cluster.scheduler_client import check_running, scheduler_failures
from pcneo.search.cluster.workers import Workers
from pcneo.search.cohesion import Task
from pcneo.search.whole_graph import Advance, queried_positions

if TYPE_CHECKING:
    from distributed import Client, Future


TASK_SECONDS = 10.0
"""How long a task should take: sending it and fetching its answer take about 20 ms."""
SHORTEST_SECONDS = 0.2
SHARES = 4
"""What is left is cut into this many tasks per thread if that makes them shorter, so that all threads end together."""
FIRST = 16
"""Vertices in each of the first tasks, which show what a vertex costs."""
GROWTH = 4
"""How many times as long as the one before a task may be."""
MOST_PATIENCE = 64.0
"""The most seconds to wait for an answer that is ready to be transferred; the first wait is two."""
AHEAD = 3
"""Tasks per thread that are under way at once."""
MOST_MEMBERSHIPS = 8_000_000
"""The most in a task, judging by the sizes so far: its answer takes 32 MB."""
BATCH_MEMBERSHIPS, BATCH_COHESIONS = 200_000, 20_000
"""The most in a batch that is handed on; its members may become Python's own integers."""


@dataclass
class _Piece:
    """A task: the positions it searches, its future, the workers that may do it, and how long its answer may travel."""

    positions: NDArray[np.int64]
    future: Future
    workers: frozenset[str]
    patience: float = 2.0


class ClusterGraph:
    """A graph and a cluster. Each worker gets the graph once, however often it is searched.

    Any worker may die, join or be slow: others do what it had, and the answers are the same, since no search depends on
    another. Workers hold what they found until its turn comes.
    """

    def __init__(self, graph: Graph, client: Client) -> None:
        """Write the graph to a file; workers get it when the first search begins."""
        self._graph, self._client = graph, client
        image = GraphImage(graph)
        self._token = image.token
        self._workers = Workers(client, image)
        weakref.finalize(self, _let_go, client, image.token)

    def search_batches(
        self,
        search: Search,
        *,
        vertices: Iterable[int] | None = None,
        check: bool = False,
        progress: Advance | None = None,
    ) -> Iterator[CohesionBatch]:
        """Yield minimal p-cohesions as `pcneo.search.search_batches` does."""
        task = Task(search, check)
        queries = queried_positions(self._graph, vertices)
        return self._search(task, queries, progress or (lambda done, total: None))

    def _search(self, task: Task, queries: NDArray[np.int64], progress: Advance) -> Iterator[CohesionBatch]:
        started, done, length = 0, 0, FIRST
        pieces: deque[_Piece] = deque()
        try:
            while done < len(queries):
                self._workers.look()
                threads = self._workers.threads
                while started < len(queries) and len(pieces) < AHEAD * threads:
                    positions = queries[started : started + length]
                    pieces.append(self._send(task, positions))
                    started += len(positions)
                self._send_anew(task, pieces)
                if not pieces or (cohesions := self._cohesions_of(task, pieces[0])) is None:
                    continue
                batch = self._batch(task, pieces.popleft().positions, cohesions)
                length = _next_length(length, batch, cohesions.seconds, (len(queries) - started) / max(1, threads))
                for part in _parts(batch):
                    done += len(part)
                    progress(done, len(queries))
                    yield part
        finally:
            with suppress(Exception):
                self._client.cancel([piece.future for piece in pieces], force=True)

    def _send(self, task: Task, positions: NDArray[np.int64]) -> _Piece:
        workers = frozenset(self._workers.ready)
        with scheduler_failures(self._client):
            future = self._client.submit(
                remote.search,
                self._token,
                task,
                _ranges(positions),
                workers=sorted(workers),
                allow_other_workers=False,
                pure=False,
            )
        return _Piece(positions, future, workers)

    def _send_anew(self, task: Task, pieces: Iterable[_Piece]) -> None:
        """Send a task again if all workers that could do it are gone; while some remain, they take it over anyway."""
        ready = self._workers.ready
        for piece in pieces:
            if ready and not piece.workers & ready.keys():
                self._replace(task, piece)

    def _replace(self, task: Task, piece: _Piece) -> None:
        with suppress(Exception):
            self._client.cancel([piece.future], force=True)
        again = self._send(task, piece.positions)
        piece.future, piece.workers = again.future, again.workers

    def _cohesions_of(self, task: Task, piece: _Piece) -> remote.TimedCohesions | None:
        """Return what a task found; None if it is not done yet, or has to be done again."""
        from distributed import wait

        with scheduler_failures(self._client), suppress(TimeoutError), self._client.as_current():
            wait([piece.future], timeout=1.0)
        check_running(self._client)
        if piece.future.status == "error":
            error: Any = piece.future.exception()
            self._look_at(task, piece, error)
            return None
        if piece.future.status in ("cancelled", "lost") and self._workers.ready:
            self._replace(task, piece)  # the worker that had it has died
        if piece.future.status != "finished":
            return None
        with scheduler_failures(self._client), suppress(TimeoutError):
            return piece.future.result(timeout=piece.patience)
        piece.patience = min(2 * piece.patience, MOST_PATIENCE)  # it is on its way, or being done again
        return None

    def _look_at(self, task: Task, piece: _Piece, error: Exception) -> None:
        """Send a task again if its worker had lost the graph; raise an error otherwise."""
        if isinstance(error, remote.GraphMissingError):
            self._workers.has_lost(error.worker)
            self._workers.look()
            if self._workers.ready:
                self._replace(task, piece)
            return
        if isinstance(error, AnswerError):
            position: Any = error.data["vertex"]
            vertex = self._graph.keys[[position]].tolist()[0]
            raise AnswerError(
                f"The cohesion that a worker computed for vertex {vertex!r} is wrong. This is a fault in pcneo or in "
                "that worker; please report it.",
                vertex=vertex,
                condition=error.data["condition"],
            ) from error
        if type(error).__name__ == "KilledWorker":
            raise ClusterError(
                f"Several workers died, one after another, on the same task, perhaps for lack of memory: {error}"
            )
        raise ClusterError(f"A worker failed: {error!r}") from error

    def _batch(self, task: Task, positions: NDArray[np.int64], cohesions: remote.TimedCohesions) -> CohesionBatch:
        offsets, members, edges, proven, best, _ = cohesions
        return CohesionBatch(task.search, positions, offsets, members, edges, self._graph.keys, proven, best)


def _let_go(client: Client, token: str) -> None:
    """Best effort: have workers let the graph go."""
    with suppress(Exception):
        if client.status == "running":
            client.run(remote.forget, token, on_error="ignore")


def _ranges(positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return ascending positions as ranges, int64, shape (r, 2)."""
    breaks = np.flatnonzero(np.diff(positions) != 1)
    firsts = positions[np.concatenate(([0], breaks + 1))]
    lasts = positions[np.concatenate((breaks, [len(positions) - 1]))]
    return np.stack((firsts, lasts + 1), axis=1)


def _next_length(length: int, batch: CohesionBatch, seconds: float, left: float) -> int:
    """Return how many vertices the next task gets, from what the last one took, with `left` to do per thread."""
    cost = max(seconds, 1e-6) / len(batch)
    aim = min(TASK_SECONDS, max(SHORTEST_SECONDS, left * cost / SHARES))
    most = MOST_MEMBERSHIPS * len(batch) // len(batch.members)
    return max(1, min(GROWTH * length, int(aim / cost), most))


def _parts(batch: CohesionBatch) -> Iterator[CohesionBatch]:
    start = 0
    while start < len(batch):
        stop = int(np.searchsorted(batch.offsets, batch.offsets[start] + BATCH_MEMBERSHIPS))
        stop = min(max(stop, start + 1), start + BATCH_COHESIONS, len(batch))
        yield batch.part(start, stop)
        start = stop
