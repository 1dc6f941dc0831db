"""The answers of randomised response about a graph, and what is counted in the graph of the yes-answers.

Nothing here is private any more once the coins are thrown: anyone who sees the answers may count whatever they like.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.memo import Memo
from pcneo.basics.model import Graph, KeyArray
from pcneo.errors import AnswerError, fault
from pcneo.graph.arrays import check_degrees
from pcneo.kernels import answers as kernels
from pcneo.kernels.compilation import compilation_announced
from pcneo.kernels.threads import run_ranges

Integers = NDArray[np.int64]

_COUNTS = "the answers' counts"


class AnsweredPairs:
    """H, the graph of the pairs answered yes, n²/8 bytes; each number is computed once, when it is first wanted.

    Attributes:
        rows: uint64, shape (n, ceil(n/64)), symmetric: bit y % 64 of `rows[x, y // 64]` is the answer for {x, y}.
    """

    def __init__(self, rows: NDArray[np.uint64]) -> None:
        """Take the matrix, which must not change afterwards."""
        self.rows = rows
        self._known = Memo()

    @classmethod
    def of_parts(cls, n: int, parts: Iterable[Integers]) -> AnsweredPairs:
        """Return answers that are yes for the pairs in `parts`, and no for all others.

        A part has shape (pairs, 2), and the ends of a pair differ.
        """
        rows = np.zeros((n, -(-n // 64)), np.uint64)
        for pairs in parts:
            for end, other in (pairs.T, pairs.T[::-1]):
                np.bitwise_or.at(rows, (end, other >> 6), np.uint64(1) << (other & 63).astype(np.uint64))
        return cls(rows)

    @property
    def vertex_count(self) -> int:
        """The number of vertices n."""
        return len(self.rows)

    @property
    def yes_count(self) -> int:
        """The number of pairs answered yes."""
        return int(self.degrees().sum()) // 2

    def degrees(self) -> Integers:
        """Return the number of yes-answers of each vertex: int64, shape (n,)."""
        return self._known.get("degrees", self._degrees)

    def _degrees(self) -> Integers:
        with compilation_announced(_COUNTS):
            degrees = np.zeros(self.vertex_count, np.int64)
            kernels.count_degrees(self.rows, degrees)
        return degrees

    def triangles(self) -> Integers:
        """Return the number of triangles of each vertex in H: int64, shape (n,)."""
        return self._known.get("triangles", self._triangles)

    def _triangles(self) -> Integers:
        with compilation_announced(_COUNTS):

            def count(twice: Integers, first: int, last: int) -> None:
                kernels.count_triangles(self.rows, first, last, twice)

            twice: Integers = np.sum(run_ranges(self._costs(), self._zeros, count), axis=0)
        if (twice % 2).any() or int((twice // 2).sum()) % 3:
            raise _wrong()
        return twice // 2

    def around(self, values: Integers) -> Integers:
        """Return the sum of `values` over the yes-neighbours of each vertex: int64, shape (n,)."""
        sums = self._zeros()
        with compilation_announced(_COUNTS):
            kernels.count_around(self.rows, values, sums)
        return sums

    def cliques(self) -> tuple[Integers, Integers]:
        """Return the 4-cliques of each vertex, and the sum of cn(x, y) - 1 over the yes-pairs among its yes-neighbours.

        Both are int64, of shape (n,).
        """
        with compilation_announced(_COUNTS):

            def count(sums: Integers, first: int, last: int) -> None:
                kernels.count_cliques(self.rows, first, last, sums[0], sums[1])

            parts = run_ranges(self._costs(), lambda: np.zeros((2, self.vertex_count), np.int64), count)
        beside, thrice = np.sum(parts, axis=0)
        if (thrice % 3).any() or int((thrice // 3).sum()) % 4:
            raise _wrong()
        return thrice // 3, beside

    def paths(self) -> Integers:
        """Return what `kernels.answers.count_paths` sums up over two-paths: int64, shape (n, 6)."""
        degrees, sums = self.degrees(), np.zeros((self.vertex_count, 6), np.int64)
        with compilation_announced(_COUNTS):

            def count(_: None, first: int, last: int) -> None:
                kernels.count_paths(self.rows, degrees, first, last, sums)

            run_ranges(degrees + 1, lambda: None, count)
        return sums

    def shared(self, first: int, last: int) -> Integers:
        """Return how many yes-neighbours vertices first..last-1 share with each vertex: int64, (last - first, n)."""
        shared = np.zeros((last - first, self.vertex_count), np.int64)
        with compilation_announced(_COUNTS):

            def count(_: None, low: int, high: int) -> None:
                kernels.count_shared(self.rows, first + low, first + high, shared[low:high])

            run_ranges(np.ones(last - first, np.int64), lambda: None, count)
        return shared

    def shared_by(self, ends: Integers, others: Integers) -> tuple[Integers, Integers]:
        """Return the answer for each of several pairs, 1 for yes, and how many yes-neighbours its ends share.

        All are int64, of shape (pairs,), and the ends of a pair differ.
        """
        yes, shared = np.empty_like(ends), np.empty_like(ends)
        with compilation_announced(_COUNTS):

            def count(_: None, first: int, last: int) -> None:
                kernels.count_shared_by(self.rows, ends, others, first, last, yes, shared)

            run_ranges(np.ones(len(ends), np.int64), lambda: None, count)
        return yes, shared

    def upper_rows(self) -> Iterator[tuple[int, Integers]]:
        """Yield each vertex x with its yes-neighbours y > x, ascending, by position."""
        for x, row in enumerate(self.rows):
            bits = np.unpackbits(row.view(np.uint8), bitorder="little", count=self.vertex_count)
            yield x, x + 1 + np.flatnonzero(bits[x + 1 :])

    def sharing(self, least: int) -> AnsweredPairs:
        """Return the answers with only those yes-answers kept whose ends share at least `least` yes-neighbours."""
        kept = np.zeros_like(self.rows)
        with compilation_announced(_COUNTS):

            def keep(_: None, first: int, last: int) -> None:
                kernels.keep_sharing(self.rows, least, first, last, kept)

            run_ranges(self._costs(), lambda: None, keep)
            kernels.mirror(kept)
        return AnsweredPairs(kept)

    def as_graph(self, keys: KeyArray) -> Graph:
        """Return the yes-answers as a graph."""
        rows = [np.unpackbits(row.view(np.uint8), bitorder="little").nonzero()[0] for row in self.rows]
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        neighbours = np.concatenate([np.empty(0, np.int64), *rows]).astype(np.uint32)
        graph = Graph(keys, offsets, neighbours)
        check_degrees(graph)
        return graph

    def _costs(self) -> Integers:
        """Return the approximate cost of each block of 64 vertices: the pairs whose smaller end lies in it."""
        return np.arange(self.vertex_count, 0, -64, dtype=np.int64)

    def _zeros(self) -> Integers:
        return np.zeros(self.vertex_count, np.int64)


def answer_pairs(graph: Graph, below: int, coins: Callable[[int], bytes]) -> AnsweredPairs:
    """Answer every pair once: what the graph holds, flipped where the pair's coin is less than `below`."""
    n = graph.vertex_count
    rows = np.zeros((n, -(-n // 64)), np.uint64)
    with compilation_announced(_COUNTS):
        for x in range(n - 1):
            drawn = np.frombuffer(coins(3 * (n - 1 - x)), np.uint8)
            kernels.answer_row(drawn, below, x, graph.neighbours_of(x), rows[x])
        kernels.mirror(rows)
    return AnsweredPairs(rows)


def _wrong() -> AnswerError:
    return fault("The counts of the answers cannot be right")
