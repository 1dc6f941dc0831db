"""Bounds on C, the most neighbours that two vertices share, from P̂ and Ĝ alone (GUARANTEE.md#utility)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import Graph
from pcneo.counting.cliques import edge_ends
from pcneo.counting.protected.pairs import PAIRS, Groups, Protected, protect
from pcneo.counting.protected.tiles import Tile, by_degree, tiles
from pcneo.graph.arrays import compress
from pcneo.kernels import protected as kernels
from pcneo.kernels.compilation import compilation_announced
from pcneo.kernels.groups import Marks, marks_for
from pcneo.kernels.threads import run_ranges

__all__ = ["common_bounds"]

AFFORDABLE = 5_000_000_000
"""Steps, some seconds' worth, after which the upper end is a bound. Whether it is follows from Ĝ alone."""


def common_bounds(
    protected: Protected, *, affordable: int = AFFORDABLE, concurrency: int | None = None
) -> tuple[int, int]:
    """Return the least and the most that C, the largest |N(u) ∩ N(v)|, can be, whichever pairs of P̂ are connected.

    C is least with the connections outside P̂ alone, and largest in Ĝ. Where Ĝ has too many vertices of high degree to
    compare all of them, the upper end is a bound: a vertex shares no more neighbours than it has.

    Args:
        protected: P̂ and Ĝ.
        affordable: steps to take before falling back to the bound.
        concurrency: number of threads; by default the available cores.

    Raises:
        ParameterError: concurrency is out of range.
    """
    nothing = Groups(np.zeros(1, np.int64), np.empty(0, np.uint32))
    outside = protect(_outside(protected), nothing, concurrency=concurrency)
    least, _ = _most_shared(outside, 0, affordable, concurrency)
    _, most = _most_shared(protected, least, affordable, concurrency)
    return least, most


def _outside(protected: Protected) -> Graph:
    """The graph without the pairs of P̂."""
    graph, n = protected.graph, protected.graph.vertex_count
    u, v = (ends[~protected.inside] for ends in edge_ends(graph))
    return Graph(graph.keys, *compress(np.concatenate((u, v)), np.concatenate((v, u)), n))


def _most_shared(protected: Protected, known: int, affordable: int, concurrency: int | None) -> tuple[int, int]:
    """Return a lower and an upper bound on C of Ĝ, which is at least `known`; equal if all steps can be afforded."""
    n, degrees, order = protected.graph.vertex_count, protected.degrees, by_degree(protected)
    nowhere, all_wanted = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    most, left = known, affordable
    for tile in tiles(protected, order, nowhere, all_wanted, concurrency):
        if degrees[order[tile.start]] <= most:  # from here on no vertex has more neighbours to share
            break
        with compilation_announced(PAIRS):
            columns = kernels.columns_of_tile(order, tile.start, tile.at, tile.rows, n)
        left -= int((np.diff(columns[0]) * np.minimum(degrees, tile.stop)).sum())
        if left < 0:
            return most, min(n - 2, int(degrees[order[tile.start]]))
        shared: list[int] = []

        def find(
            memory: tuple[Marks, NDArray[np.int64], NDArray[np.uint32]],
            first: int,
            last: int,
            tile: Tile = tile,
            columns: tuple[NDArray[np.int64], NDArray[np.uint32]] = columns,
            shared: list[int] = shared,
        ) -> None:
            shared.append(kernels.most_shared(protected.rows, order, tile.start, first, last, *columns, *memory))

        with compilation_announced(PAIRS):
            run_ranges(
                protected.costs[order[: tile.stop]] + degrees[order[: tile.stop]],
                lambda size=tile.stop - tile.start: (
                    marks_for(n),
                    np.zeros(size, np.int64),
                    np.empty(size, np.uint32),
                ),
                find,
                concurrency,
            )
        most = max(most, *shared)
    return most, most
