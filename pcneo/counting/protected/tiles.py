"""Rows of Ĝ by falling degree, as many at a time as fit the memory set aside for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import CohesionBatch, Graph
from pcneo.counting.protected.pairs import PAIRS, Groups, Protected, matrix_memory
from pcneo.kernels import protected as kernels
from pcneo.kernels.compilation import compilation_announced
from pcneo.kernels.groups import Marks, marks_for
from pcneo.kernels.threads import run_ranges, thread_count

__all__ = ["TILE", "Tile", "by_degree", "protected_memory", "refused_memory", "tiles"]

TILE = 2**25
"""Vertices in the rows of Ĝ held at a time, 4 bytes each; more only if a single row has more."""

MEMORY = 4 * 10**9
"""Bytes that finding scales may take beside the graph, the groups and the optional bits of `matrix_memory`."""

_FIRST = 64  # rows of the first tile; each later tile has `_FASTER` times as many as the one before, if they fit
_FASTER = 4


@dataclass(frozen=True, eq=False)
class Tile:
    """Some rows of Ĝ, each with its own vertex.

    Attributes:
        start: the rank of the first row's vertex.
        stop: the rank after the last.
        at: int64; the i-th row is `rows[at[i]:at[i + 1]]`, empty if its vertex is settled.
        rows: uint32.
        opened: int64; where the open vertices of the i-th row end (`kernels.protected.fill_tile`).
    """

    start: int
    stop: int
    at: NDArray[np.int64]
    rows: NDArray[np.uint32]
    opened: NDArray[np.int64]


def protected_memory(graph: Graph, groups: CohesionBatch | Groups, *, concurrency: int | None = None) -> int:
    """Return an upper estimate of the bytes that `protect`, `largest_supports` for k=3 and `common_bounds` need.

    With M members in all groups, n vertices, m connections and t threads, beside the graph and the groups, these are
    4M + 128n + 128m for arrays, 8 max(TILE, 2n) for rows of Ĝ, 32n for each thread, and what `matrix_memory` says. The
    number of pairs does not matter. Exact supports for k >= 4 take up to 84 bytes more for each edge of Ĝ, and 8 for
    each thread.

    Args:
        graph: the graph.
        groups: the groups, by position in it.
        concurrency: number of threads; by default the available cores.

    Raises:
        ParameterError: concurrency is out of range.
    """
    return _needed_memory(graph, groups, concurrency) + matrix_memory(groups, graph.vertex_count)


def _needed_memory(graph: Graph, groups: CohesionBatch | Groups, concurrency: int | None) -> int:
    n, m = graph.vertex_count, graph.edge_count
    return 4 * len(groups.members) + 128 * n + 128 * m + 8 * max(TILE, 2 * n) + 32 * n * thread_count(concurrency)


def refused_memory(graph: Graph, groups: CohesionBatch | Groups, *, concurrency: int | None = None) -> int | None:
    """Return the bytes that finding scales needs where they exceed `MEMORY`, so that the groups are refused; else None.

    Args:
        graph: the graph.
        groups: the groups, by position in it.
        concurrency: number of threads; by default the available cores.

    Raises:
        ParameterError: concurrency is out of range.
    """
    needed = _needed_memory(graph, groups, concurrency)
    return needed if needed > MEMORY else None


def by_degree(protected: Protected) -> NDArray[np.int64]:
    """Return the vertices by falling degree in Ĝ, ties by position: int64, shape (n,)."""
    return np.argsort(-protected.degrees, kind="stable")


def tiles(
    protected: Protected,
    order: NDArray[np.int64],
    largest: NDArray[np.int64],
    settled: NDArray[np.bool_],
    concurrency: int | None,
) -> Iterator[Tile]:
    """Yield the rows of Ĝ in tiles, in order. The first tiles are small: what they settle makes the later ones cheap.

    Args:
        protected: P̂ and Ĝ.
        order: what `by_degree` returned.
        largest: int64, shape (n,); decides which vertices are open. It may change between tiles.
        settled: bool, shape (n,); vertices whose rows are no longer needed. It may change between tiles.
        concurrency: number of threads; by default the available cores.
    """
    n, degrees = len(order), protected.degrees
    start, wanted = 0, _FIRST
    while start < n:
        within = order[start : start + wanted]
        sizes = np.where(settled[within], 0, degrees[within] + 1)
        at = np.concatenate((np.zeros(1, np.int64), sizes)).cumsum()
        count = max(1, int(np.searchsorted(at, TILE, side="right")) - 1)
        tile = Tile(start, start + count, at[: count + 1], np.empty(at[count], np.uint32), np.empty(count, np.int64))

        def fill(marks: Marks, first: int, last: int, tile: Tile = tile) -> None:
            kernels.fill_tile(
                protected.rows,
                order,
                tile.start,
                first,
                last,
                degrees,
                largest,
                tile.at,
                marks,
                tile.rows,
                tile.opened,
            )

        with compilation_announced(PAIRS):
            run_ranges(protected.costs[within[:count]], lambda: marks_for(n), fill, concurrency)
        yield tile
        start, wanted = tile.stop, wanted * _FASTER
