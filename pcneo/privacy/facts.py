"""What a mechanism may ask about a graph; each fact is computed when it is first wanted.

`privacy` knows no graph: an object that counts on one, such as `pcneo.counting.counted.CountedGraph`, has these
methods. Every fact is exact and stays with the owner; only `vertex_count` is public. A mechanism that needs more adds a
method here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.pair_answers import PairAnswers, Weighed

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class ProtectedGraph(Protocol):
    """P̂, the pairs inside groups, and Ĝ, the graph with all of them. Weights are those of a no, a yes and a connection
    outside P̂.
    """

    @property
    def pair_count(self) -> int:
        """The number of pairs of P̂."""
        ...

    @property
    def connected(self) -> Flags:
        """Whether the graph connects each pair of P̂, in their order."""
        ...

    def check(self, k: int) -> None:
        """Refuse with `GraphError`, from n, k, P̂ and Ĝ alone, what is beyond memory or time."""
        ...

    def answer(self, below: int, coins: Callable[[int], bytes]) -> PairAnswers:
        """Answer every pair of P̂ once, flipped where its coin of three bytes is less than `below`, out of 2^24."""
        ...

    def triangles(self, yes: Flags, weights: Sequence[tuple[float, float, float]], v: float) -> Sequence[Weighed]:
        """Return sums and variances for each of several weights; v is the variance that one answer adds."""
        ...

    def four_cliques(self, yes: Flags, weights: tuple[float, float, float]) -> Floats:
        """Return the sums over the 4-cliques with each vertex: float64, shape (n,)."""
        ...

    def untouched(self, k: int) -> int:
        """Return how many vertices share no k-clique of Ĝ with a pair of P̂."""
        ...


class Answers(Protocol):
    """One answer for every pair of vertices, and what is counted in the graph of the yes-answers; none of it private.

    Arrays are int64 and of shape (n,) unless stated otherwise.
    """

    @property
    def vertex_count(self) -> int:
        """The number of vertices, public."""
        ...

    @property
    def yes_count(self) -> int:
        """The number of pairs answered yes."""
        ...

    def degrees(self) -> Integers:
        """Return the number of yes-answers of each vertex."""
        ...

    def triangles(self) -> Integers:
        """Return the number of triangles of each vertex."""
        ...

    def around(self, values: Integers) -> Integers:
        """Return the sum of `values` over the yes-neighbours of each vertex."""
        ...

    def shared_by(self, ends: Integers, others: Integers) -> tuple[Integers, Integers]:
        """Return the answer for each of several pairs, 1 for yes, and how many yes-neighbours its ends share."""
        ...

    def upper_rows(self) -> Iterator[tuple[int, Integers]]:
        """Yield each vertex x with its yes-neighbours y > x, ascending, by position."""
        ...

    def cliques(self) -> tuple[Integers, Integers]:
        """Return the 4-cliques of each vertex; the sum of cn(x, y) - 1 over the yes-pairs among its yes-neighbours."""
        ...

    def paths(self) -> Integers:
        """Return sums over the middles of two-paths, shape (n, 6), as `kernels.answers.count_paths` has them."""
        ...


class Facts(Protocol):
    """A graph and, for mechanisms that rest on them, its groups.

    Facts about groups raise `GraphError` where there are no groups, or where they are too large.
    """

    @property
    def vertex_count(self) -> int:
        """The number of vertices, public."""
        ...

    def degrees(self) -> Integers:
        """Return deg(v): int64, shape (n,)."""
        ...

    def common(self) -> Integers:
        """Return c(v), the largest |N(v) ∩ N(u)| over u != v, adjacent or not: int64, shape (n,)."""
        ...

    def largest_common(self) -> int:
        """Return C, the largest c(v); 0 without vertices."""
        ...

    def counts(self, k: int) -> Integers:
        """Return Γ(v) over the whole graph: int64, shape (n,)."""
        ...

    def answers(self, below: int, coins: Callable[[int], bytes]) -> Answers:
        """Answer every pair once: what the graph holds, flipped where a coin of three bytes is less than `below`."""
        ...

    def inner_degrees(self) -> Integers:
        """Return deg(v, MC(v)): int64, shape (n,)."""
        ...

    def inner_common(self) -> Integers:
        """Return cn_in(v): int64, shape (n,)."""
        ...

    def protected_graph(self) -> ProtectedGraph:
        """Return P̂ and Ĝ."""
        ...
