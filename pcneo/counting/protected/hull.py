"""Ĝ with the kinds of its edges, as lists or in bits, and what its cliques weigh (GUARANTEE.md#critical).

Which of the two is used, and what is too large, follows from n, k, P̂ and Ĝ alone: never from which pairs of P̂ are
connected, from the clock or from the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import Graph
from pcneo.basics.pair_answers import PairAnswers, Weighed
from pcneo.counting.cliques import clique_counts, edge_ends, root_costs
from pcneo.counting.protected.pairs import BLOCK, PAIRS, Protected, listed_hull, pair_blocks
from pcneo.errors import AnswerError, GraphError, fault
from pcneo.graph.arrays import compress
from pcneo.kernels import weighing as kernels
from pcneo.kernels.compilation import compilation_announced
from pcneo.kernels.degeneracy import Dag, by_degree, edge_places
from pcneo.kernels.threads import run_ranges, thread_count

MEMORY = 4 * 10**9
"""The most bytes that answers and Ĝ may take in addition to the graph and its groups."""

STEPS = 5 * 10**11
"""The most steps of about a nanosecond that counting on one set of answers may take."""

_LISTED = 46  # bytes for each edge of Ĝ as lists, and `_OF_THREAD` more for each thread
_OF_THREAD = 16
_IN_BITS = 3  # matrices
_STEPS_A_WORD = 4  # the nine ands of two words of each kind
_STEPS_A_FOUR = 3

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Bits = NDArray[np.uint64]


Weights = tuple[float, float, float]
"""What an edge of Ĝ weighs: a pair of P̂ that is answered no, one that is answered yes, a connection outside P̂."""


class Hull:
    """Ĝ and P̂: answers are drawn for the pairs of P̂, and cliques of Ĝ are weighed.

    Attributes:
        protected: P̂ and Ĝ, counted.
    """

    def __init__(self, protected: Protected, label: str = "the graph", *, concurrency: int | None = None) -> None:
        """Take P̂; nothing is listed until it is wanted."""
        self.protected, self._label, self._concurrency = protected, label, concurrency

    @property
    def vertex_count(self) -> int:
        """The number of vertices."""
        return self.protected.graph.vertex_count

    @property
    def pair_count(self) -> int:
        """The number of pairs of P̂."""
        return self.protected.pair_count

    # --- Limits, from n, k, P̂ and Ĝ alone

    def check(self, k: int) -> None:
        """Refuse, before anything is drawn, counts that would take too much memory or time."""
        # [critical-limits]
        needed = min(self._bytes_as_lists, self.pair_count + self._bytes_in_bits) if k == 3 else self._bytes_as_lists
        if needed > MEMORY:
            raise self._too_large(f"need {needed / 1e9:.1f} GB", k)
        if (steps := self.steps(k)) > STEPS:
            raise self._too_large(f"take {steps:.1e} steps", k)

    def _too_large(self, why: str, k: int) -> GraphError:
        return GraphError(
            f"The groups of {self._label} protect {self.pair_count:,} pairs of vertices; counting {k}-cliques with "
            f"them would {why}, which is too much. Use a run with a smaller p{', or k = 3' if k > 3 else ''}.",
            pairs=self.pair_count,
            k=k,
        )

    def steps(self, k: int) -> int:
        """Return about how many steps counting on one set of answers takes, from n, k, P̂ and Ĝ alone."""
        if k == 3:
            return self._steps_in_bits if self.in_bits else self._steps_as_lists
        n, taken = self.vertex_count, np.zeros(self.vertex_count, np.int64)
        dag = self._listed.dag

        def count(place: NDArray[np.int64], first: int, last: int) -> None:
            kernels.steps_of_fours(dag, first, last, place, taken)

        with compilation_announced(PAIRS):
            run_ranges(root_costs(dag), lambda: np.zeros(n, np.int64), count, self._concurrency)
        return _STEPS_A_FOUR * int(taken.sum())

    @cached_property
    def in_bits(self) -> bool:
        """Whether triangles are weighed in bits: where lists need too much memory, or more steps."""
        if self._bytes_as_lists > MEMORY:
            return True
        return self._bytes_in_bits <= MEMORY and self._steps_in_bits < self._steps_as_lists

    @property
    def _bytes_as_lists(self) -> int:
        return self.pair_count + self.protected.edge_count * (_LISTED + _OF_THREAD)

    @property
    def _bytes_in_bits(self) -> int:
        """Return the bytes of the matrices alone, without the answers."""
        return _IN_BITS * 8 * self.vertex_count * -(-self.vertex_count // 64)

    @cached_property
    def _steps_in_bits(self) -> int:
        return _STEPS_A_WORD * self.protected.edge_count * -(-self.vertex_count // 64)

    @cached_property
    def _steps_as_lists(self) -> int:
        dag = self._listed.dag
        return 4 * int(np.diff(dag.offsets)[dag.heads].sum())

    # --- Answers

    @property
    def connected(self) -> Flags:
        """Whether the graph connects each pair of P̂: bool, in their order. It is exact, and only for the owner."""
        return self._connected

    @cached_property
    def _connected(self) -> Flags:
        graph, at = self.protected.graph, 0
        connected = np.empty(self.pair_count, np.bool_)
        for u, v in pair_blocks(self.protected, concurrency=self._concurrency):
            with compilation_announced(PAIRS):
                kernels.connected_pairs(graph.offsets, graph.neighbours, u, v, connected[at : at + len(u)])
            at += len(u)
        if np.count_nonzero(connected) != np.count_nonzero(self.protected.inside):
            raise fault("The protected connections do not add up")
        return connected

    def answer(self, below: int, coins: Callable[[int], bytes]) -> PairAnswers:
        """Answer every pair of P̂ once: what the graph holds, flipped where the pair's coin is less than `below`."""
        # [critical-flip]
        yes = np.empty(self.pair_count, np.bool_)
        for at in range(0, len(yes), BLOCK):  # the pairs whose coins are in memory at once
            part = self.connected[at : at + BLOCK]
            drawn = np.frombuffer(coins(3 * len(part)), np.uint8).reshape(-1, 3).astype(np.uint32)
            u = drawn[:, 0] << 16 | drawn[:, 1] << 8 | drawn[:, 2]
            yes[at : at + BLOCK] = part ^ (u < below)
        return PairAnswers(yes)

    # --- Sums over cliques

    def triangles(self, yes: Flags, weights: Sequence[Weights], v: float) -> list[Weighed]:
        """Return what the triangles of Ĝ weigh at each vertex, with variances, for each of several weights."""
        if self.in_bits:
            return self._from_bits(yes, weights, v)
        kinds = self._listed.kinds(yes)
        return [self._from_lists(kinds, np.array(table), v) for table in weights]

    def _from_lists(self, kinds: NDArray[np.uint8], table: Floats, v: float) -> Weighed:
        dag, m, n = self._listed.dag, self.protected.edge_count, self.vertex_count
        threads = min(thread_count(self._concurrency), max(1, (MEMORY - _LISTED * m) // (_OF_THREAD * m + 1)))

        def weigh(memory: tuple[Floats, Floats, Floats], first: int, last: int) -> None:
            kernels.weigh_triangles(dag, kinds, table, v, first, last, *memory)

        with compilation_announced(PAIRS):
            parts = run_ranges(root_costs(dag), lambda: (np.zeros((3, n)), np.zeros(m), np.zeros(m)), weigh, threads)
        sums, products, squares = (np.sum(part, axis=0) for part in zip(*parts, strict=True))
        if not np.isclose((table[kinds] * products).sum(), sums[0].sum(), rtol=1e-6, atol=1e-3):
            raise _wrong()
        edges = np.where(kinds != kernels.OUTSIDE, v * (products * products - squares + products), 0.0)
        tails = np.repeat(np.arange(n), np.diff(dag.offsets))
        variances = sums[1] + np.bincount(tails, edges, n) + np.bincount(dag.heads, edges, n)
        return Weighed(sums[0][dag.rank], variances[dag.rank], float(sums[2].sum() + edges.sum()))

    def _from_bits(self, yes: Flags, weights: Sequence[Weights], v: float) -> list[Weighed]:
        rows, tables, n = self._bits, np.array(weights), self.vertex_count
        yes_rows = self._rows_of(yes)
        no_rows = rows.inner & ~yes_rows

        def weigh(sums: Floats, first: int, last: int) -> None:
            kernels.weigh_rows(no_rows, yes_rows, rows.outside, tables, v, first, last, sums)

        with compilation_announced(PAIRS):
            costs = self.protected.larger + 1
            parts = run_ranges(costs, lambda: np.zeros((len(tables), 3, n)), weigh, self._concurrency)
        return [Weighed(sums[0], sums[1], float(sums[2].sum())) for sums in np.sum(parts, axis=0)]

    def four_cliques(self, yes: Flags, weights: Weights) -> Floats:
        """Return what the 4-cliques of Ĝ weigh at each vertex: float64, shape (n,)."""
        dag, n = self._listed.dag, self.vertex_count
        kinds, table = self._listed.kinds(yes), np.array(weights)

        def weigh(memory: tuple[NDArray[np.int64], Floats], first: int, last: int) -> None:
            kernels.weigh_fours(dag, kinds, table, first, last, *memory)

        with compilation_announced(PAIRS):
            parts = run_ranges(
                root_costs(dag), lambda: (np.zeros(n, np.int64), np.zeros((2, n))), weigh, self._concurrency
            )
        sums, at_root = np.sum([of_thread for _, of_thread in parts], axis=0)
        if not np.isclose(sums.sum(), 4 * at_root.sum(), rtol=1e-6, atol=1e-3):
            raise _wrong()
        return sums[dag.rank]

    def untouched(self, k: int) -> int:
        """Return how many vertices share no k-clique of Ĝ with a pair of P̂."""
        if k == 3:
            every = np.zeros(self.pair_count, np.bool_)
            return int((self.triangles(every, [(1.0, 1.0, 1.0)], 1.0)[0].variances == 0).sum())
        with_pairs = clique_counts(self._listed.graph, k, concurrency=self._concurrency)
        return int((with_pairs == clique_counts(self.outside, k, concurrency=self._concurrency)).sum())

    @cached_property
    def outside(self) -> Graph:
        """The graph without the pairs of P̂."""
        graph, n = self.protected.graph, self.vertex_count
        u, v = (ends[~self.protected.inside] for ends in edge_ends(graph))
        return Graph(graph.keys, *compress(np.concatenate((u, v)), np.concatenate((v, u)), n))

    # --- The two ways to hold Ĝ

    @cached_property
    def _listed(self) -> _Listed:
        graph, inside = listed_hull(self.protected, concurrency=self._concurrency)
        with compilation_announced(PAIRS):
            dag = by_degree(graph.offsets, graph.neighbours)
            return _Listed(graph, inside, dag, edge_places(dag, graph.offsets, graph.neighbours))

    @cached_property
    def _bits(self) -> _InBits:
        inner = self._rows_of(np.ones(self.pair_count, np.bool_))
        if np.bitwise_count(inner).sum(dtype=np.int64) != 2 * self.pair_count:
            raise _wrong()
        u, v = edge_ends(self.protected.graph)
        outside = np.zeros_like(inner)
        with compilation_announced(PAIRS):
            kernels.set_pairs(outside, u, v, ~self.protected.inside)
        return _InBits(inner, outside)

    def _rows_of(self, chosen: Flags) -> Bits:
        n, at = self.vertex_count, 0
        rows = np.zeros((n, -(-n // 64)), np.uint64)
        for u, v in pair_blocks(self.protected, concurrency=self._concurrency):
            with compilation_announced(PAIRS):
                kernels.set_pairs(rows, u, v, chosen[at : at + len(u)])
            at += len(u)
        return rows


class _Listed(NamedTuple):
    """Ĝ as lists: whether each edge is in P̂, in the order of `edge_ends`, and its place for each of `dag.heads`."""

    graph: Graph
    inside: Flags
    dag: Dag
    places: NDArray[np.int64]

    def kinds(self, yes: Flags) -> NDArray[np.uint8]:
        kinds = np.full(len(self.inside), kernels.OUTSIDE, np.uint8)
        kinds[self.inside] = yes  # edges ascend as pairs do, and `NO` and `YES` are 0 and 1
        return kinds[self.places]


class _InBits(NamedTuple):
    """P̂ and the connections outside it, as symmetric matrices of bits."""

    inner: Bits
    outside: Bits


def _wrong() -> AnswerError:
    return fault("The weights of cliques do not add up")
