"""What a mechanism may ask about a graph: a supply that computes each fact when it is first wanted.

`privacy` knows no graph: whoever counts on one has these methods, as `pcneo.counting.counted.CountedGraph` does. Every
fact is exact and stays with the owner; only `vertex_count` is public. A mechanism that needs more adds a method here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Answers", "Facts", "Integers", "Supports"]

Integers = NDArray[np.int64]


class Supports(Protocol):
    """How far the pairs inside groups can move the counts."""

    @property
    def per_vertex(self) -> Integers:
        """int64, shape (n,); the largest S(e) over the pairs e that count for v, 0 where none does."""
        ...

    @property
    def exact(self) -> bool:
        """Whether S(e) is k·support_k(e, Ĝ); if not it is the bound k·C(cn(e, Ĝ), k-2)."""
        ...


class Answers(Protocol):
    """One answer for every pair of vertices, and what is counted in the graph of the yes-answers; none of it private.

    All arrays are int64 and, but for `paths` and `shared`, of shape (n,).
    """

    @property
    def vertex_count(self) -> int:
        """The number of vertices, public."""
        ...

    @property
    def rows(self) -> NDArray[np.uint64]:
        """The answers as a symmetric matrix of bits: uint64, shape (n, ceil(n/64))."""
        ...

    @property
    def yes_count(self) -> int:
        """The number of pairs answered yes."""
        ...

    def degrees(self) -> Integers:
        """Return the yes-answers of each vertex."""
        ...

    def triangles(self) -> Integers:
        """Return the triangles of each vertex."""
        ...

    def shared(self, first: int, last: int) -> Integers:
        """Return the common yes-neighbours of the vertices first..last-1 and every vertex, shape (last - first, n)."""
        ...

    def around(self, values: Integers) -> Integers:
        """Return the sum of `values` over the yes-neighbours of each vertex."""
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

    Those that are about groups raise `GraphError` where there are none, or where they are too large.
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
        """Answer every pair once: what the graph holds, flipped where a coin of three bytes is less than `below`.

        Args:
            below: of 2^24.
            coins: returns so many random bytes.
        """
        ...

    def inner_degrees(self) -> Integers:
        """Return deg(v, MC(v)): int64, shape (n,)."""
        ...

    def inner_common(self) -> Integers:
        """Return cn_in(v): int64, shape (n,)."""
        ...

    def largest_supports(self, k: int) -> Supports:
        """Return the largest S(e) that counts for each vertex, from the graph with all pairs inside groups."""
        ...

    def common_bounds(self) -> tuple[int, int]:
        """Return the least and the most that C can be whichever pairs inside groups are connected."""
        ...
