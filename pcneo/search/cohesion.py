"""One search for a whole graph and for one that is being fetched: run the kernel, then check its answers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import cast

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import CohesionBatch, Graph
from pcneo.basics.searches import DEFAULT_SEARCH, Search
from pcneo.errors import fault
from pcneo.kernels.answer_check import CONNECTED, HOLDS_QUERIED, MINIMAL, NEEDS_MET, SOUND, check_cohesions
from pcneo.kernels.cohesion import DEGREE, DENSITY, NARROW, Rows, Workspace, places_of, workspace
from pcneo.kernels.compilation import compilation_announced
from pcneo.search.expansion import ExpansionSearch
from pcneo.search.smallest import SmallestSearch

log = logging.getLogger("pcneo")

Begun = SmallestSearch | ExpansionSearch
"""A search for some vertices, which goes on as rows arrive."""

KERNELS: dict[str, Callable[[NDArray[np.int64], int], Begun]] = {
    "smallest": SmallestSearch,
    "density": lambda queries, effort: ExpansionSearch(queries, DENSITY),
    "degree": lambda queries, effort: ExpansionSearch(queries, DEGREE),
}
"""How each of `pcneo.basics.searches.SEARCHES` begins, from the queried vertices and the effort."""

REVISION = 2
"""Raised whenever any answer of the search can change; stored runs of another revision are searched again."""


def needs_of(p: Fraction, degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return need(v) = ceil(p·deg(v)) for each degree, int64, exact for any p (ALGORITHM.md#p-cohesion)."""
    a, b = p.as_integer_ratio()
    table = [-(-a * degree // b) for degree in range(int(degrees.max(initial=0)) + 1)]
    return np.array(table, np.int64)[degrees]


@dataclass(frozen=True, eq=False)
class Searched:
    """A graph with its needs at one p.

    Attributes:
        graph: the arrays.
        need: int64, n; the need of each vertex.
        rows: both, in the form that the search's kernel takes.
    """

    graph: Graph
    need: NDArray[np.int64]
    rows: Rows

    @classmethod
    def of(cls, graph: Graph, p: Fraction) -> Searched:
        """Arrange a graph for the kernel."""
        degrees = graph.degrees
        needs = needs_of(p, np.arange(int(degrees.max(initial=0)) + 1))
        ranks = graph.keys if graph.keys.dtype == np.int64 and graph.keys.flags.carray else np.arange(len(degrees))
        rows = Rows(places_of(graph.offsets[:-1], degrees), graph.neighbours, needs, cast("NDArray[np.int64]", ranks))
        return cls(graph, needs[degrees], rows)

    def workspace(self, stop: NDArray[np.uint8] | None = None) -> Workspace:
        """Allocate the memory in which one thread searches this graph, until `stop`, uint8, shape (1,), is not 0."""
        work = workspace(self.graph.vertex_count, len(self.rows.needs) - 1)
        return work if stop is None else work._replace(stop=stop)


@dataclass(frozen=True)
class Task:
    """What is searched for, and whether answers are also checked to be minimal."""

    search: Search
    check: bool

    def run(self, searched: Searched, queries: NDArray[np.int64], work: Workspace) -> CohesionBatch:
        """Search one queried vertex after another."""
        search = self.begin(queries)
        search.go_on(searched.rows, work)
        if not search.done:
            raise CancelledError
        found = self.found(searched.graph, queries, search, search.members)
        # between searches these sums are zero, as the check needs them and leaves them
        return self.checked(searched.graph, searched.need, found, work.sums.view(np.int64))

    def begin(self, queries: NDArray[np.int64]) -> Begun:
        """Begin the search for some vertices, int64."""
        return KERNELS[self.search.name](queries, self.search.effort)

    def found(
        self, graph: Graph, vertices: NDArray[np.int64], begun: Begun, members: NDArray[np.uint32]
    ) -> CohesionBatch:
        """Return what a search has found, by position in a graph; `checked` counts the edges."""
        edges = np.empty(0, np.int64)
        return CohesionBatch(self.search, vertices, begun.offsets, members, edges, graph.keys, begun.proven, begun.best)

    def checked(
        self, graph: Graph, need: NDArray[np.int64], found: CohesionBatch, place: NDArray[np.int64]
    ) -> CohesionBatch:
        """Check each cohesion, whose members may come in any order, and count its edges, from the graph alone."""
        edges = np.zeros(len(found), np.int64)
        batch = replace(found, members=_ascending(found.offsets, found.members), edges=edges)
        index, condition, vertex = check_cohesions(
            graph.offsets,
            graph.neighbours,
            need,
            batch.vertices,
            batch.offsets,
            batch.members,
            edges,
            self.check,
            place,
        )
        if condition != SOUND:
            queried, culprit = graph.keys[[batch.vertices[index], vertex]].tolist()
            failed = _CONDITIONS[condition].format(culprit)
            raise fault(
                f"The cohesion computed for vertex {queried!r} at p={self.search.p}, search {self.search.name}, "
                f"{failed}",
                vertex=queried,
                condition=failed,
            )
        return batch


_CONDITIONS = {
    HOLDS_QUERIED: "does not contain that vertex",
    NEEDS_MET: "gives vertex {!r} fewer neighbours than it needs",
    CONNECTED: "does not connect vertex {!r}",
    MINIMAL: "is not minimal: it can do without vertex {!r}",
}


def make_task(search: Search, check: bool, max_degree: int = 1) -> Task:
    """Return a task, after compiling the kernels for `max_degree` neighbours."""
    compile_kernels(max_degree)
    return Task(search, check)


def _ascending(offsets: NDArray[np.int64], members: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the members in ascending order within each cohesion."""
    keyed = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) << 32 | members
    keyed.sort()
    return keyed.astype(np.uint32)


def compile_kernels(max_degree: int) -> None:
    """Load the kernels for `max_degree` neighbours from numba's cache or compile them, announcing that before."""
    _compile(wide=max_degree >= NARROW)


@cache
def _compile(*, wide: bool) -> None:
    edge = Graph(np.arange(2), np.arange(3), np.array([1, 0], np.uint32))
    with compilation_announced("the search among very many neighbours" if wide else "the search"):
        task = Task(Search("1/2", DEFAULT_SEARCH), check=True)
        task.run(Searched.of(edge, task.search.p), np.arange(2), workspace(2, NARROW if wide else 1))
