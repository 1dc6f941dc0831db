"""Ĝ built as a graph, where it is small enough."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import Graph
from pcneo.counting.cliques import edge_ends
from pcneo.counting.protected.pairs import PAIRS, Protected
from pcneo.errors import fault
from pcneo.kernels import protected as kernels
from pcneo.kernels.compilation import compilation_announced
from pcneo.kernels.groups import Marks, marks_for
from pcneo.kernels.threads import run_ranges


def listed_hull(protected: Protected, *, concurrency: int | None = None) -> tuple[Graph, NDArray[np.bool_]]:
    """Return Ĝ, and whether each of its edges is in P̂: bool, in the order of `edge_ends`.

    They take 9 bytes per edge of Ĝ.
    """
    n, degrees = protected.graph.vertex_count, protected.degrees
    rows_at = np.concatenate((np.zeros(1, np.int64), degrees)).cumsum()
    larger = protected.pairs + np.bincount(edge_ends(protected.graph)[0][~protected.inside], minlength=n)
    edges_at = np.cumsum(larger) - larger
    neighbours, inside = np.empty(rows_at[-1], np.uint32), np.empty(protected.edge_count, np.bool_)

    def fill(marks: Marks, start: int, end: int) -> None:
        kernels.fill_rows(protected.rows, start, end, rows_at, edges_at, marks, neighbours, inside)

    with compilation_announced(PAIRS):
        run_ranges(protected.costs + degrees, lambda: marks_for(n), fill, concurrency)
    if np.count_nonzero(inside) != protected.pair_count:
        raise fault("The graph with all protected pairs is not sound")
    return Graph(protected.graph.keys, rows_at, neighbours), inside
