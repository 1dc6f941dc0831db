"""Rows of Ĝ, as many at a time as memory is given, by falling degree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pcneo.counting.protected.pairs import PAIRS, Groups, Protected, matrix_memory
from pcneo.kernels import protected as kernels
from pcneo.kernels.groups import Marks, marks_for
from pcneo.kernels.running import compilation_announced, run_ranges, thread_count
from pcneo.model import CohesionBatch, Graph

__all__ = ["TILE", "Tile", "by_degree", "protected_memory", "refused_memory", "tiles"]

TILE = 2**25
"""Vertices in the rows of Ĝ that are kept at a time, in 4 bytes each; more only where one row alone has more."""

MEMORY = 4 * 10**9
"""Bytes that scales may take beside the graph, the groups and what `matrix_memory` says, which is not needed."""

_FIRST = 64  # rows of the first tile; each has four times as many rows as the one before, as far as they fit
_FASTER = 4


@dataclass(frozen=True, eq=False)
class Tile:
    """Some rows of Ĝ, each with its own vertex.

    Attributes:
        start: the rank of the first row's vertex.
        stop: the rank after the last.
        at: int64; the i-th row is `rows[at[i]:at[i + 1]]`, and empty where it was not wanted.
        rows: uint32.
        opened: int64; where the open vertices of the i-th row end (`kernels.protected.fill_tile`).
    """

    start: int
    stop: int
    at: NDArray[np.int64]
    rows: NDArray[np.uint32]
    opened: NDArray[np.int64]


def protected_memory(graph: Graph, groups: CohesionBatch | Groups, *, concurrency: int | None = None) -> int:
    """Return the bytes that `protect`, `largest_supports` for k=3 and `common_bounds` need, estimated from above.

    With M members in all groups, n vertices, m connections and t threads, beside the graph and the groups, these are
    4M + 128n + 128m for what is kept, 8 max(TILE, 2n) for rows of Ĝ, 32n for each thread, and what `matrix_memory`
    says: the number of pairs has no part in it. Exact supports for k >= 4 take up to 84 bytes for each edge of Ĝ
    more, and 8 for each thread.

    Args:
        graph: the graph.
        groups: the groups, by position in it.
        concurrency: number of threads; the cores at hand if not given.

    Raises:
        ParameterError: concurrency is out of range.
    """
    return _needed_memory(graph, groups, concurrency) + matrix_memory(groups, graph.vertex_count)


def _needed_memory(graph: Graph, groups: CohesionBatch | Groups, concurrency: int | None) -> int:
    n, m = graph.vertex_count, graph.edge_count
    return 4 * len(groups.members) + 128 * n + 128 * m + 8 * max(TILE, 2 * n) + 32 * n * thread_count(concurrency)


def refused_memory(graph: Graph, groups: CohesionBatch | Groups, *, concurrency: int | None = None) -> int | None:
    """Return the bytes without which it cannot be done where they are above `MEMORY`, so that the groups are refused.

    Args:
        graph: the graph.
        groups: the groups, by position in it.
        concurrency: number of threads; the cores at hand if not given.

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
    """Yield the rows of Ĝ in tiles, in order; the first are small, for what they show makes the others cheap.

    Args:
        protected: P̂ and Ĝ.
        order: as `by_degree` returned it.
        largest: int64, shape (n,); which vertices are open follows from it, as it is when a tile is asked for.
        settled: bool, shape (n,); vertices whose rows are not wanted, likewise.
        concurrency: number of threads; the cores at hand if not given.
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
