"""P̂ and Ĝ: how large they are, which connections they hold, and the pairs block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pcneo.errors import AnswerError, ParameterError
from pcneo.kernels import protected as kernels
from pcneo.kernels.groups import Marks, Rows, fill_bits, groups_of_vertices, marks_for
from pcneo.kernels.running import compilation_announced, run_ranges
from pcneo.model import CohesionBatch, Graph

__all__ = ["BLOCK", "PAIRS", "Groups", "Protected", "matrix_memory", "pair_blocks", "protect", "starts_of_edges"]

MATRIX = 2**29
"""Bytes that a bit for each two vertices may take: enough for 65,536 vertices."""

BLOCK = 2**20
"""Pairs in a block; more only where one vertex alone has more."""

PAIRS = "the protected pairs"

_WORDS_AT_ONCE = 32  # so that of all rows what is written to stays near


class Groups(NamedTuple):
    """Sets of vertices, by position; a `CohesionBatch` serves as well.

    Attributes:
        offsets: int64; the i-th group is `members[offsets[i]:offsets[i + 1]]`.
        members: uint32, distinct within each group.
    """

    offsets: NDArray[np.int64]
    members: NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Protected:
    """P̂ and Ĝ, which are made from the graph and the groups again whenever they are passed over.

    Attributes:
        graph: the graph.
        rows: what the rows of Ĝ are made from.
        costs: int64, shape (n,); about what the row of each vertex costs to make.
        pairs: int64, shape (n,); for each u how many pairs {u, v}, v > u, of P̂ there are.
        degrees: int64, shape (n,); in Ĝ.
        inside: bool, shape (m,); for each connection of the graph whether it is in P̂.
    """

    graph: Graph
    rows: Rows
    costs: NDArray[np.int64]
    pairs: NDArray[np.int64]
    degrees: NDArray[np.int64]
    inside: NDArray[np.bool_]

    @property
    def pair_count(self) -> int:
        """How many pairs P̂ has."""
        return int(self.pairs.sum())

    @property
    def edge_count(self) -> int:
        """How many edges Ĝ has."""
        return int(self.degrees.sum()) // 2


def protect(graph: Graph, groups: CohesionBatch | Groups, *, concurrency: int | None = None) -> Protected:
    """Return P̂ and Ĝ, counted. Ask `protected_memory` first whether what follows from them fits.

    Args:
        graph: the graph.
        groups: the groups, by position in it.
        concurrency: number of threads; the cores at hand if not given.

    Raises:
        ParameterError: the groups do not fit the graph, or concurrency is out of range.
        AnswerError: Ĝ is not what P̂ and the graph make.
    """
    offsets, members, n = groups.offsets, groups.members, graph.vertex_count
    whole = len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == len(members) and (np.diff(offsets) >= 0).all()
    if not whole or members.min(initial=0) < 0 or members.max(initial=0) >= max(n, 1):
        raise ParameterError(
            f"The groups are not of this graph: members must be positions from 0 to {n - 1}. "
            "Use cohesions that were computed on it.",
            name="groups",
            value=len(offsets) - 1,
        )
    pairs, degrees, inside = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(graph.edge_count, np.bool_)
    edges_at = starts_of_edges(graph)
    with compilation_announced(PAIRS):
        places, of_vertices, met = groups_of_vertices(offsets, members, n)
        bits = _partner_bits(groups, n, concurrency)
        rows = Rows(graph.offsets, graph.neighbours, offsets, members, places, of_vertices, bits)
        costs = (np.bitwise_count(bits).sum(axis=1, dtype=np.int64) if len(bits) else met) + graph.degrees + 1

        def count(marks: Marks, start: int, end: int) -> None:
            kernels.count_rows(rows, start, end, edges_at, marks, pairs, degrees, inside)

        run_ranges(costs, lambda: marks_for(n), count, concurrency)
    protected = Protected(graph, rows, costs, pairs, degrees, inside)
    if degrees.sum() != 2 * (pairs.sum() + graph.edge_count - np.count_nonzero(inside)):
        raise AnswerError("The graph with all protected pairs is not sound: a fault in pcneo; please report it.")
    return protected


def matrix_memory(groups: CohesionBatch | Groups, vertex_count: int) -> int:
    """Return the bytes of a bit for each two vertices, or 0 where partners are to be found by groups instead.

    That is so where going through all groups once, each for all of its members, is less than setting their bits would
    be, or the bits would take more than `MATRIX`.
    """
    sizes, words = np.diff(groups.offsets), -(-vertex_count // 64)
    needed = 8 * vertex_count * words
    return needed if (sizes * sizes).sum() > words * sizes.sum() and needed <= MATRIX else 0


def _partner_bits(groups: CohesionBatch | Groups, n: int, concurrency: int | None) -> NDArray[np.uint64]:
    words = -(-n // 64) if matrix_memory(groups, n) else 0
    bits = np.zeros((n, words) if words else (0, 0), np.uint64)

    def fill(_: None, start: int, end: int) -> None:
        last = min(words, _WORDS_AT_ONCE * end)
        fill_bits(groups.offsets, groups.members, _WORDS_AT_ONCE * start, last, bits)

    run_ranges(np.ones(-(-words // _WORDS_AT_ONCE), np.int64), lambda: None, fill, concurrency)
    return bits


def starts_of_edges(graph: Graph) -> NDArray[np.int64]:
    """Return where the edges {u, v}, v > u, of each u begin among all edges, ascending by u, then v: int64, (n,)."""
    u = np.repeat(np.arange(graph.vertex_count, dtype=np.uint32), graph.degrees)
    larger = np.bincount(u[u < graph.neighbours], minlength=graph.vertex_count)
    return np.cumsum(larger) - larger


def pair_blocks(
    protected: Protected, *, most: int = BLOCK, concurrency: int | None = None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield all pairs u < v of P̂ in blocks, ascending by u, then v: the ends u and the ends v, int64.

    A block has no more than `most` pairs, or those of a single vertex; it takes 16 bytes a pair.

    Args:
        protected: P̂.
        most: pairs in a block.
        concurrency: number of threads; the cores at hand if not given.

    Raises:
        ParameterError: concurrency is out of range.
    """
    n = protected.graph.vertex_count
    pairs_at = np.concatenate((np.zeros(1, np.int64), protected.pairs)).cumsum()
    first = 0
    while first < n:
        last = max(first + 1, int(np.searchsorted(pairs_at, pairs_at[first] + most, side="right")) - 1)
        u, v = (np.empty(pairs_at[last] - pairs_at[first], np.int64) for _ in range(2))

        def fill(marks: Marks, start: int, end: int, first: int = first, u=u, v=v) -> None:
            at = pairs_at[first + start] - pairs_at[first]
            kernels.fill_pairs(protected.rows, first + start, first + end, pairs_at, marks, u[at:], v[at:])

        with compilation_announced(PAIRS):
            run_ranges(protected.costs[first:last], lambda: marks_for(n), fill, concurrency)
        yield u, v
        first = last
