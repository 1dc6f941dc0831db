"""One search for a whole graph and for one that is being fetched: run the kernel, then check its answers."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import cast

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import CohesionBatch, Graph
from pcneo.errors import AnswerError, ParameterError
from pcneo.kernels.answer_check import CONNECTED, HOLDS_QUERIED, MINIMAL, NEEDS_MET, SOUND, check_cohesions
from pcneo.kernels.cohesion import DEGREE, DENSITY, NARROW, Rows, Workspace, minimal_cohesions, places_of, workspace
from pcneo.kernels.compilation import compilation_announced
from pcneo.search.needs import needs_of, p_text, parse_fraction

__all__ = ["REVISION", "SCORES", "Searched", "Task", "check_score", "compile_kernels", "make_task"]

log = logging.getLogger("pcneo")

SCORES = {"density": DENSITY, "degree": DEGREE}
"""The scores that can rank an expansion (ALGORITHM.md#scores), by name, and what the kernel calls them.

`degree` is a reconstruction of the 2021 baseline; whatever reports it must call it that.
"""


REVISION = 1
"""Raised whenever any answer of the search can change; stored runs of another one are searched again."""


def check_score(score: str) -> int:
    """Return what the kernel calls a score.

    Raises:
        ParameterError: there is no score of that name.
    """
    if score not in SCORES:
        raise ParameterError(f"score must be one of {', '.join(SCORES)}, not {score!r}.", name="score", value=score)
    return SCORES[score]


@dataclass(frozen=True, eq=False)
class Searched:
    """A graph with the needs of one p.

    Attributes:
        graph: the arrays.
        need: int64, n; the need of each vertex.
        rows: the same as the search's kernel takes it.
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

    def workspace(self) -> Workspace:
        """Allocate the memory in which one thread searches this graph."""
        return workspace(self.graph.vertex_count, len(self.rows.needs) - 1)


@dataclass(frozen=True)
class Task:
    """What is searched for: p, a score, and whether answers are also checked to be minimal."""

    p: Fraction
    score: str
    check: bool

    def run(self, searched: Searched, queries: NDArray[np.int64], work: Workspace) -> CohesionBatch:
        """Search one queried vertex after another.

        Args:
            searched: the graph and its needs.
            queries: int64, positions.
            work: of this graph; no other thread may use it meanwhile.

        Raises:
            AnswerError: an answer failed its check.
        """
        ends, joined, _ = minimal_cohesions(searched.rows, SCORES[self.score], queries, work)
        offsets = np.concatenate((np.zeros(1, np.int64), ends))
        # between searches these sums are zero, which is what the check takes and leaves
        return self.checked(searched.graph, searched.need, (queries, offsets, joined), work.sums.view(np.int64))

    def checked(
        self,
        graph: Graph,
        need: NDArray[np.int64],
        searched: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32]],
        place: NDArray[np.int64],
    ) -> CohesionBatch:
        """Check each cohesion and count its edges, from the graph alone.

        Args:
            graph: the graph, or as much of it as has the rows of all members.
            need: int64, n; the need of each vertex that has a row.
            searched: the queried vertices, the offsets of their cohesions, and the members in any order.
            place: int64, n zeros, and zeros again on return.

        Raises:
            AnswerError: an answer failed its check.
        """
        vertices, offsets, members = searched
        edges = np.zeros(len(vertices), np.int64)
        batch = CohesionBatch(self.p, self.score, vertices, offsets, _ascending(offsets, members), edges, graph.keys)
        index, condition, vertex = check_cohesions(
            graph.offsets, graph.neighbours, need, vertices, offsets, batch.members, edges, self.check, place
        )
        if condition != SOUND:
            queried, culprit = graph.keys[[batch.vertices[index], vertex]].tolist()
            failed = _CONDITIONS[condition].format(culprit)
            raise AnswerError(
                f"The cohesion computed for vertex {queried!r} at p={p_text(self.p)}, score {self.score}, {failed}. "
                "This is a fault in pcneo; please report it.",
                vertex=queried,
                condition=failed,
            )
        return batch


_CONDITIONS = {
    HOLDS_QUERIED: "does not hold it",
    NEEDS_MET: "gives vertex {!r} fewer neighbours than it needs",
    CONNECTED: "does not connect vertex {!r}",
    MINIMAL: "is not minimal: it can do without vertex {!r}",
}


def make_task(p: object, score: str, check: bool, max_degree: int = 1) -> Task:
    """Return a task whose p and score have been checked, the kernels for `max_degree` neighbours being compiled.

    Raises:
        ParameterError: p or score is out of range.
    """
    task = Task(parse_fraction(p), score, check)
    check_score(score)
    compile_kernels(max_degree)
    return task


def _ascending(offsets: NDArray[np.int64], members: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the members in ascending order within each cohesion."""
    keyed = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) << 32 | members
    keyed.sort()
    return keyed.astype(np.uint32)


def compile_kernels(max_degree: int) -> None:
    """Load the kernels for so many neighbours from numba's cache or compile them, announced before it starts."""
    _compile(wide=max_degree >= NARROW)


@cache
def _compile(*, wide: bool) -> None:
    edge = Graph(np.arange(2), np.arange(3), np.array([1, 0], np.uint32))
    with compilation_announced("the search among very many neighbours" if wide else "the search"):
        task = Task(Fraction(1, 2), "density", check=True)
        task.run(Searched.of(edge, task.p), np.arange(2), workspace(2, NARROW if wide else 1))
