"""One search for a whole graph and for one that is being fetched: run the kernel, then check its answers."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pcneo.errors import AnswerError, ParameterError
from pcneo.kernels.check import CONNECTED, HOLDS_QUERIED, MINIMAL, NEEDS_MET, SOUND, check_cohesions
from pcneo.kernels.cohesion import DEGREE, DENSITY, NARROW, Rows, Workspace, minimal_cohesions, rows_of, workspace
from pcneo.kernels.compilation import compilation_announced
from pcneo.model import CohesionBatch, Graph
from pcneo.search.needs import p_text, parse_fraction

__all__ = [
    "REVISION",
    "SCORES",
    "Memory",
    "Missing",
    "Searched",
    "Task",
    "check_score",
    "compile_kernels",
    "make_task",
]

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
    """A graph, or the part of one that is known, with the needs of one p.

    Attributes:
        graph: the arrays.
        need: int64, n; the need of each vertex, negative where its neighbours are not known.
        rows: the same as the search's kernel takes it.
    """

    graph: Graph
    need: NDArray[np.int64]
    rows: Rows

    @classmethod
    def of(cls, graph: Graph, need: NDArray[np.int64]) -> Searched:
        """Arrange a graph for the kernel."""
        return cls(graph, need, rows_of(graph.offsets, graph.neighbours, need))


@dataclass(frozen=True, eq=False)
class Memory:
    """The memory in which one thread searches and checks, for a graph of one size.

    Attributes:
        work: the kernel's workspace.
        place: int64, n zeros between uses; the checking kernel's. It is the memory of `work.sums`, zero then as well.
    """

    work: Workspace
    place: NDArray[np.int64]

    @classmethod
    def of(cls, graph: Graph, most_arriving: int = 0) -> Memory:
        """Allocate the memory that a graph needs.

        Args:
            graph: the graph.
            most_arriving: the most rows that one vertex is in. It counts only while a graph is being fetched: a vertex
                whose own row is not known can have more members beside it than any known row has neighbours.
        """
        work = workspace(graph.vertex_count, max(most_arriving, int(graph.degrees.max(initial=0))))
        return cls(work, work.sums.view(np.int64))


class Missing(NamedTuple):
    """What a search lacks to go on.

    Attributes:
        vertices: int64; their neighbours are needed next. Empty if every queried vertex has its answer.
        members: uint32; who has joined so far, in that order.
    """

    vertices: NDArray[np.int64]
    members: NDArray[np.uint32]


@dataclass(frozen=True)
class Task:
    """What is searched for: p, a score, and whether answers are also checked to be minimal."""

    p: Fraction
    score: str
    check: bool

    def run(self, searched: Searched, queries: NDArray[np.int64], memory: Memory) -> tuple[CohesionBatch, Missing]:
        """Search one queried vertex after another, until neighbours are needed that are not known.

        Args:
            searched: the graph and its needs.
            queries: int64; vertices whose neighbours are known.
            memory: made for this graph; no other thread may use it meanwhile.

        Returns:
            The cohesions, and what the next one lacks.

        Raises:
            AnswerError: an answer failed its check.
        """
        ends, joined, missing = minimal_cohesions(searched.rows, SCORES[self.score], queries, memory.work)
        offsets = np.concatenate((np.zeros(1, np.int64), ends))
        members, so_far = np.split(joined, offsets[-1:])
        batch = CohesionBatch(
            self.p,
            self.score,
            queries[: len(ends)],
            offsets,
            _ascending(offsets, members),
            np.zeros(len(ends), np.int64),
            searched.graph.keys,
        )
        self._check(searched, batch, memory)
        return batch, Missing(missing, so_far)

    def _check(self, searched: Searched, batch: CohesionBatch, memory: Memory) -> None:
        """Check each cohesion and count its edges, from the graph alone."""
        graph = searched.graph
        index, condition, vertex = check_cohesions(
            graph.offsets,
            graph.neighbours,
            searched.need,
            batch.vertices,
            batch.offsets,
            batch.members,
            batch.edges,
            self.check,
            memory.place,
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
        searched = Searched.of(edge, np.ones(2, np.int64))
        Task(Fraction(1, 2), "density", check=True).run(searched, np.arange(2), Memory.of(edge, NARROW if wide else 1))
