"""Computes the cells that are not finished, in parallel, each once, and estimates the time left."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from evaluation.cells import BesideCell, Cell, NeededCohesions, ReleaseCell
from evaluation.cohesion_arrays import CohesionArrays
from evaluation.computing import compute
from evaluation.datasets import EvaluatedGraph
from evaluation.graph_arrays import GraphArrays
from evaluation.kept_arrays import RefusedError
from evaluation.results import Result
from evaluation.results_folder import ResultsFolder
from evaluation.simulated_releases import FEWEST, LONGEST, SECONDS, prepare_facts, seconds_of_one
from pcneo.basics.model import CohesionBatch
from pcneo.privacy.mechanisms import Critical, Respond, mechanism_named
from pcneo.search import thread_count

StoredCohesions = Callable[[EvaluatedGraph, str, str], CohesionBatch]
"""Takes a graph, p and a score, and reads the cohesions of all vertices from where they are stored."""

Memberships = Mapping[tuple[str, str, str], str]
"""The hash of stored cohesions, by the graph's name, p and score."""


@dataclass(frozen=True)
class Step:
    """How far an evaluation is.

    Attributes:
        done, total: numbers of cells.
        what: what is being computed.
        seconds_left: an estimate.
    """

    done: int
    total: int
    what: str
    seconds_left: float


def finish(
    cells: Iterable[Cell],
    graphs: Mapping[str, EvaluatedGraph],
    folder: ResultsFolder,
    *,
    stored: StoredCohesions | None = None,
    memberships: Memberships | None = None,
    concurrency: int | None = None,
    progress: Callable[[Step], None] | None = None,
) -> None:
    """Compute the cells that are not finished, and write each as soon as it is.

    Cells of one graph and p are computed together: first what they share, on all cores, then the cells side by side.
    Cheap cells come first, so that much is finished early. Where `stored` is given, cohesions are read from there, and
    `memberships` has their hashes.
    """
    missing = [cell for cell in dict.fromkeys(cells) if folder.result(cell) is None]
    parts: defaultdict[tuple[str, str | None, int | None], list[Cell]] = defaultdict(list)
    for cell in missing:
        needs = cell.needs
        parts[cell.graph, needs and needs.p, needs and needs.sample].append(cell)
    clock = _Clock(progress, len(missing), sum(_expected_seconds(cell, graphs[cell.graph]) for cell in missing))
    arrays = {name: GraphArrays(graph, folder, clock.announce) for name, graph in graphs.items()}
    ordered = sorted(parts.values(), key=lambda part: sum(_expected_seconds(cell, graphs[cell.graph]) for cell in part))
    with ThreadPoolExecutor(thread_count(concurrency)) as pool:
        for part in ordered:
            graph = arrays[part[0].graph]
            cohesions = _Cohesions(graph, part[0], stored, memberships or {})
            _finish_part(part, graph, cohesions, folder, pool, clock)


class _Cohesions:
    """The cohesions that cells of one graph, p and sample need, by score."""

    def __init__(
        self, graph: GraphArrays, cell: Cell, stored: StoredCohesions | None, memberships: Memberships
    ) -> None:
        self._graph, self._seed = graph, cell.seed
        self._needs = cell.needs or NeededCohesions("", ())
        # A sample is drawn where all vertices would cost too much: nobody has stored those.
        self._stored = stored if self._needs.sample is None else None
        self._memberships = memberships
        self._by_score: dict[str, CohesionArrays] = {}

    def __call__(self, score: str) -> CohesionArrays:
        """Return the cohesions of a score."""
        if score not in self._by_score:
            evaluated, p = self._graph.evaluated, self._needs.p
            reader = self._stored and partial(self._stored, evaluated, p, score)
            self._by_score[score] = CohesionArrays(
                self._graph,
                p,
                score,
                sample=self._needs.sample,
                seed=self._seed,
                stored=reader,
                memberships=self._memberships.get((evaluated.name, p, score)) if reader else None,
            )
        return self._by_score[score]


def _finish_part(
    part: Sequence[Cell],
    graph: GraphArrays,
    cohesions: _Cohesions,
    folder: ResultsFolder,
    pool: ThreadPoolExecutor,
    clock: _Clock,
) -> None:
    """Finish cells of one graph, p and sample."""

    def run(cell: Cell) -> tuple[Cell, Result]:
        return cell, compute(cell, graph, cohesions)

    def write(cell: Cell, result: Result) -> None:
        folder.write_cell(cell, result)
        clock.count(cell, _expected_seconds(cell, graph.evaluated))

    simulated = [cell for cell in part if isinstance(cell, ReleaseCell)]
    for cell in part:
        if not isinstance(cell, ReleaseCell):
            write(*run(cell))
    for cell in simulated:  # first what they need, on all cores; then each runs on one
        with suppress(RefusedError):
            prepare_facts(cell, graph, cohesions)
    running: list[Future[tuple[Cell, Result]]] = [pool.submit(run, cell) for cell in simulated]
    try:
        for future in as_completed(running):
            write(*future.result())
    finally:
        for future in running:
            future.cancel()


_GROWTH = {"0.1": 1, "0.2": 4, "0.3": 12, "0.4": 60, "0.5": 200, "0.6": 500, "0.7": 1000, "0.8": 1500}
"""How much longer a search takes at each p than at 0.1."""

_SECONDS_PER_EDGE, _SECONDS_PER_COUNT = 3e-6, 3e-7
"""Of a search at p = 0.1, for each direction of an edge; of a simulated release, for each vertex."""

_TRUST = 120.0  # seconds of work after which the pace so far counts as much as what was expected


def _expected_seconds(cell: Cell, evaluated: EvaluatedGraph) -> float:
    """About how long a cell takes, with its share of what it has in common with others."""
    graph, needs = evaluated.graph, cell.needs
    search = _SECONDS_PER_EDGE * 2 * graph.edge_count * (_GROWTH.get(needs.p, 1) if needs else 1)
    if needs and needs.sample is not None:
        search *= needs.sample / graph.vertex_count
    if isinstance(cell, ReleaseCell | BesideCell):
        one, n = _SECONDS_PER_COUNT * graph.vertex_count, graph.vertex_count
        if cell.mechanism in (Critical.name, Respond.name):
            made = mechanism_named(cell.mechanism).taking(k=cell.k, epsilon=cell.epsilon).on(n)
            one += seconds_of_one(made, graph.edge_count, None)
        if one > LONGEST:
            return 0.0
        at_most = max(SECONDS, FEWEST * one) if isinstance(cell, ReleaseCell) else one * cell.runs
        return min(at_most, one * cell.runs) + search / 20
    return search


class _Clock:
    """Reports how far the evaluation is, and estimates the rest from what was expected and the pace so far."""

    def __init__(self, progress: Callable[[Step], None] | None, total: int, expected: float) -> None:
        self._progress = progress
        self._started = time.monotonic()
        self._total, self._done = total, 0
        self._expected, self._expected_of_done = expected, 0.0
        self.announce("beginning")

    def announce(self, what: str) -> None:
        """Report what is being computed."""
        if self._progress is not None:
            passed = time.monotonic() - self._started
            # At first what is expected decides: kernels that are being compiled say little of what follows.
            pace = (passed + _TRUST) / (self._expected_of_done + _TRUST)
            left = pace * max(0.0, self._expected - self._expected_of_done)
            self._progress(Step(self._done, self._total, what, left))

    def count(self, cell: Cell, expected: float) -> None:
        """Count a finished cell."""
        self._done += 1
        self._expected_of_done += expected
        self.announce(f"{cell.graph}, {cell.kind}")
