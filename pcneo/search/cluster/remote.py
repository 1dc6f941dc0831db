"""What runs on a worker: it keeps graphs, and searches them."""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import Graph
from pcneo.basics.searches import P
from pcneo.search.cluster.graph_image import open_image
from pcneo.search.cohesion import REVISION, Searched, Task, compile_kernels

STALE_SECONDS = 600
"""Graphs that have not been searched for this long make room for others: their client may have been killed."""


class GraphMissingError(Exception):
    """This worker does not have the graph: it was restarted, or has let it go."""

    def __init__(self, worker: str) -> None:
        """Keep the worker's address."""
        super().__init__(worker)
        self.worker = worker


class TimedCohesions(NamedTuple):
    """The cohesions of some vertices, as in `basics.model.CohesionBatch`, in their order, and the seconds they took."""

    offsets: NDArray[np.int64]
    members: NDArray[np.uint32]
    edges: NDArray[np.int64]
    proven: NDArray[np.bool_]
    best: NDArray[np.bool_]
    seconds: float


class _Held:
    """A graph on this worker, arranged for each p that it is searched at."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._searched: dict[P, Searched] = {}
        self._lock = threading.Lock()
        self.used = time.monotonic()

    def at(self, p: P) -> Searched:
        self.used = time.monotonic()
        with self._lock:
            if p not in self._searched:
                self._searched[p] = Searched.of(self._graph, p)
            return self._searched[p]


_held: dict[str, _Held] = {}


def take_file(token: str, path: str) -> int:
    """Map a graph from a file, if this worker can read it, and compile the kernels for it.

    Returns:
        The search's revision here; -1 if the file cannot be read or holds another graph.
    """
    try:
        with Path(path).open("rb") as file:
            graph = open_image(file, token)
    except OSError:
        graph = None
    return -1 if graph is None else _keep(token, graph)


def take_bytes(token: str, data: NDArray[np.uint8]) -> int:
    """Keep a graph that was sent as the bytes of its file; return what `take_file` does.

    The bytes are mapped from a file on this worker that no longer has a name.
    """
    from distributed import get_worker

    with tempfile.TemporaryFile(dir=get_worker().local_directory) as file:
        data.tofile(file)
        file.flush()
        file.seek(0)
        graph = open_image(file, token)
    return -1 if graph is None else _keep(token, graph)


def _keep(token: str, graph: Graph) -> int:
    now = time.monotonic()
    for other in [other for other, held in list(_held.items()) if now - held.used > STALE_SECONDS]:
        _held.pop(other, None)
    compile_kernels(int(graph.degrees.max(initial=0)))
    _held[token] = _Held(graph)
    return REVISION


def forget(token: str) -> None:
    """Let a graph go."""
    _held.pop(token, None)


def search(token: str, task: Task, ranges: NDArray[np.int64]) -> TimedCohesions:
    """Search the vertices of some ranges of positions."""
    started = time.perf_counter()
    held = _held.get(token)
    if held is None:
        from distributed import get_worker

        raise GraphMissingError(get_worker().address)
    searched = held.at(task.search.p)
    queries = np.concatenate([np.arange(first, last) for first, last in ranges.tolist()])
    batch = task.run(searched, queries, searched.workspace())
    held.used = time.monotonic()
    seconds = time.perf_counter() - started
    return TimedCohesions(batch.offsets, batch.members, batch.edges, batch.proven, batch.best, seconds)
