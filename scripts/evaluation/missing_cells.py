"""The use case: compute the cells that are not finished, each once, and keep them."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial

from evaluation.cells import Cell, Result
from evaluation.cohesion_arrays import GraphArrays, SetArrays
from evaluation.computing import compute, prepare
from evaluation.datasets import EvaluatedGraph
from evaluation.results_folder import Kept
from pcneo.kernels.running import thread_count
from pcneo.model import CohesionBatch

__all__ = ["Memberships", "Step", "StoredSets", "finish"]

StoredSets = Callable[[EvaluatedGraph, str, str], CohesionBatch]
"""Takes a graph, p and a score, and reads the cohesions of all vertices from where they are stored."""

Memberships = Mapping[tuple[str, str, str], str]
"""The hash of stored cohesions, by the graph's name, p and score."""


@dataclass(frozen=True)
class Step:
    """How far an evaluation is.

    Attributes:
        done, total: cells.
        what: what is being computed.
        seconds_left: estimated.
    """

    done: int
    total: int
    what: str
    seconds_left: float


def finish(
    cells: Iterable[Cell],
    graphs: Mapping[str, EvaluatedGraph],
    kept: Kept,
    *,
    stored: StoredSets | None = None,
    memberships: Memberships | None = None,
    concurrency: int | None = None,
    progress: Callable[[Step], None] | None = None,
) -> None:
    """Compute the cells that are not finished, and keep each as soon as it is.

    Cells of one graph and p are computed together: what they share is computed on all cores, then they run side by
    side. The order is that of the costs, so that much is finished early.

    Args:
        cells: which.
        graphs: by name; every cell's graph.
        kept: what is finished, and where to put more.
        stored: where to take cohesions from; unless given, they are searched for.
        memberships: the hash of each that is stored.
        concurrency: number of threads; the cores at hand if not given.
        progress: called with each step.
    """
    missing = [cell for cell in dict.fromkeys(cells) if kept.result(cell) is None]
    parts: defaultdict[tuple[str, str | None, int | None], list[Cell]] = defaultdict(list)
    for cell in missing:
        parts[cell.graph, cell.p, cell.sample].append(cell)
    clock = _Clock(progress, len(missing), sum(_expected(cell, graphs[cell.graph]) for cell in missing))
    arrays = {name: GraphArrays(graph, kept, clock.tell) for name, graph in graphs.items()}
    ordered = sorted(parts.values(), key=lambda part: sum(_expected(cell, graphs[cell.graph]) for cell in part))
    with ThreadPoolExecutor(thread_count(concurrency)) as pool:
        for part in ordered:
            _finish_part(part, arrays[part[0].graph], kept, stored, memberships or {}, pool, clock)


def _finish_part(
    part: Sequence[Cell],
    graph: GraphArrays,
    kept: Kept,
    stored: StoredSets | None,
    memberships: Memberships,
    pool: ThreadPoolExecutor,
    clock: _Clock,
) -> None:
    """Finish cells of one graph, p and sample."""
    made: dict[str, SetArrays] = {}
    first = part[0]

    def sets(score: str) -> SetArrays:
        if score not in made:
            p = first.p or ""
            # A sample is drawn where all vertices would cost too much: nobody has stored those.
            reader = partial(stored, graph.evaluated, p, score) if stored is not None and not first.sample else None
            held = memberships.get((graph.evaluated.name, p, score)) if reader is not None else None
            made[score] = SetArrays(
                graph, p, score, sample=first.sample, seed=first.seed, stored=reader, memberships=held
            )
        return made[score]

    def run(cell: Cell) -> tuple[Cell, Result]:
        return cell, compute(cell, graph, sets)

    simulated = [cell for cell in part if cell.kind == "release"]
    for cell in (cell for cell in part if cell.kind != "release"):
        _, result = run(cell)
        kept.keep(cell, result)
        clock.done(cell, _expected(cell, graph.evaluated))
    for cell in simulated:
        prepare(cell, graph, sets)
    running: list[Future[tuple[Cell, Result]]] = [pool.submit(run, cell) for cell in simulated]
    try:
        for future in as_completed(running):
            cell, result = future.result()
            kept.keep(cell, result)
            clock.done(cell, _expected(cell, graph.evaluated))
    finally:
        for future in running:
            future.cancel()


_GROWTH = {"0.1": 1, "0.2": 4, "0.3": 12, "0.4": 60, "0.5": 200, "0.6": 500, "0.7": 1000, "0.8": 1500}
_TRUST = 120.0  # seconds of work after which the pace so far counts as much as what was expected
_SECONDS = {"sets": 3e-6, "release": 3e-7}


def _expected(cell: Cell, evaluated: EvaluatedGraph) -> float:
    """About how many seconds a cell takes, its share of what it has in common with others included."""
    graph = evaluated.graph
    search = _SECONDS["sets"] * 2 * graph.edge_count * _GROWTH.get(cell.p or "", 1)
    if cell.sample is not None:
        search *= cell.sample / graph.vertex_count
    if cell.kind == "release":
        return _SECONDS["release"] * graph.vertex_count * (cell.runs or 0) + search / 20
    return search


class _Clock:
    """Says how far it is, and how long it may take yet: what is expected of the rest, by how the rest so far went."""

    def __init__(self, progress: Callable[[Step], None] | None, total: int, expected: float) -> None:
        self._progress = progress
        self._started = time.monotonic()
        self._total, self._count = total, 0
        self._expected, self._behind = expected, 0.0
        self._what = ""
        self.tell("beginning")

    def tell(self, what: str) -> None:
        """Say what is being computed."""
        self._what = what
        if self._progress is not None:
            passed = time.monotonic() - self._started
            # At first what is expected decides; kernels that are compiled then say little of what follows.
            pace = (passed + _TRUST) / (self._behind + _TRUST)
            left = pace * max(0.0, self._expected - self._behind)
            self._progress(Step(self._count, self._total, self._what, left))

    def done(self, cell: Cell, expected: float) -> None:
        """Count a finished cell."""
        self._count += 1
        self._behind += expected
        self.tell(f"{cell.graph}, {cell.kind}")
