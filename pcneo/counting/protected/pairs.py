"""P̂ and Ĝ: their sizes, the connections in P̂, its pairs block by block, and Ĝ as a graph where it is small enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import CohesionBatch, Graph
from pcneo.counting.cliques import edge_ends
from pcneo.errors import GraphError, ParameterError, fault
from pcneo.kernels import protected as kernels
from pcneo.kernels.compilation import compilation_announced
from pcneo.kernels.groups import Marks, Rows, fill_bits, groups_of_vertices, marks_for
from pcneo.kernels.threads import run_ranges

MOST_MEMBERS = 10**9
"""The most members of all groups together; each takes 4 bytes here, in addition to the groups themselves."""

MATRIX = 2**29
"""The most bytes that a bit for every two vertices may take: enough for 65,536 vertices."""

BLOCK = 2**20
"""Pairs in a block; more only if a single vertex has more."""

PAIRS = "the search for protected pairs"

_WORDS_AT_ONCE = 32  # few enough for the written part of every row to stay in the cache


class Groups(NamedTuple):
    """Sets of vertices, by position; a `CohesionBatch` will do as well.

    Attributes:
        offsets: int64; the i-th group is `members[offsets[i]:offsets[i + 1]]`.
        members: uint32, distinct within each group.
    """

    offsets: NDArray[np.int64]
    members: NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Protected:
    """P̂ and Ĝ; their rows are made again from the graph and the groups at every pass.

    Attributes:
        graph: the graph.
        rows: the arrays that rows of Ĝ are made from.
        costs: int64, shape (n,); the approximate cost of making each vertex's row.
        pairs: int64, shape (n,); for each u the number of pairs {u, v}, v > u, of P̂.
        degrees: int64, shape (n,); degrees in Ĝ.
        inside: bool, shape (m,); whether each connection of the graph is in P̂.
    """

    graph: Graph
    rows: Rows
    costs: NDArray[np.int64]
    pairs: NDArray[np.int64]
    degrees: NDArray[np.int64]
    inside: NDArray[np.bool_]

    @property
    def pair_count(self) -> int:
        """The number of pairs of P̂."""
        return int(self.pairs.sum())

    @property
    def larger(self) -> NDArray[np.int64]:
        """How many neighbours in Ĝ each vertex has among the larger ones: int64, shape (n,)."""
        u, _ = edge_ends(self.graph)
        return self.pairs + np.bincount(u[~self.inside], minlength=len(self.pairs))

    @property
    def edge_count(self) -> int:
        """The number of edges of Ĝ."""
        return int(self.degrees.sum()) // 2


def protect(graph: Graph, groups: CohesionBatch | Groups, *, concurrency: int | None = None) -> Protected:
    """Return P̂ and Ĝ, counted."""
    offsets, members, n = groups.offsets, groups.members, graph.vertex_count
    whole = len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == len(members) and (np.diff(offsets) >= 0).all()
    if not whole or members.min(initial=0) < 0 or members.max(initial=0) >= max(n, 1):
        raise ParameterError(
            f"The groups do not belong to this graph: members must be positions from 0 to {n - 1}. "
            "Use cohesions that were computed on it.",
            name="groups",
            value=len(offsets) - 1,
        )
    if len(members) > MOST_MEMBERS:
        raise GraphError(
            f"The groups have {len(members):,} members in all; counting what they protect needs too much memory. Use a "
            "mechanism without groups, or a run with a smaller p.",
            memberships=len(members),
        )
    pairs, degrees, inside = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(graph.edge_count, np.bool_)
    ends = np.repeat(np.arange(n, dtype=np.uint32), graph.degrees)
    larger = np.bincount(ends[ends < graph.neighbours], minlength=n)
    edges_at = np.cumsum(larger) - larger
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
        raise fault("The graph with all protected pairs is not sound")
    return protected


def matrix_memory(groups: CohesionBatch | Groups, vertex_count: int) -> int:
    """Return the bytes of one bit for every two vertices, or 0 where collecting partners from the groups is better.

    That is where walking through all groups, once for each member, costs less than setting their bits, or the bits
    would take more than `MATRIX`.
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


def pair_blocks(
    protected: Protected, *, most: int = BLOCK, concurrency: int | None = None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield all pairs u < v of P̂ in blocks, ascending by u, then v: the ends u and the ends v, int64.

    A block has at most `most` pairs, unless a single vertex has more; it takes 16 bytes per pair.
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


def listed_hull(protected: Protected, *, concurrency: int | None = None) -> tuple[Graph, NDArray[np.bool_]]:
    """Return Ĝ, and whether each of its edges is in P̂: bool, in the order of `edge_ends`.

    They take 9 bytes per edge of Ĝ.
    """
    n, degrees = protected.graph.vertex_count, protected.degrees
    rows_at = np.concatenate((np.zeros(1, np.int64), degrees)).cumsum()
    larger = protected.larger
    edges_at = np.cumsum(larger) - larger
    neighbours, inside = np.empty(rows_at[-1], np.uint32), np.empty(protected.edge_count, np.bool_)

    def fill(marks: Marks, start: int, end: int) -> None:
        kernels.fill_rows(protected.rows, start, end, rows_at, edges_at, marks, neighbours, inside)

    with compilation_announced(PAIRS):
        run_ranges(protected.costs + degrees, lambda: marks_for(n), fill, concurrency)
    if np.count_nonzero(inside) != protected.pair_count:
        raise fault("The graph with all protected pairs is not sound")
    return Graph(protected.graph.keys, rows_at, neighbours), inside


def pairs_in_groups_of_two(protected: Protected) -> int:
    """Return how many connections are groups of two; anyone who knows the groups knows these connections."""
    starts, members, graph = protected.rows.starts, protected.rows.members.astype(np.int64), protected.graph
    begin, n = starts[:-1][np.diff(starts) == 2], graph.vertex_count
    ends = np.sort(np.column_stack((members[begin], members[begin + 1])), axis=1)
    u, v = edge_ends(graph)
    return len(np.intersect1d(ends[:, 0] * n + ends[:, 1], u * n + v))
