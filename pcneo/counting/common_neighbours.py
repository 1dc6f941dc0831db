"""Common neighbours of vertices, in the graph and inside cohesions (ALGORITHM.md#common-neighbours)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import CohesionBatch, Graph
from pcneo.counting.cliques import check_batch
from pcneo.errors import fault
from pcneo.kernels import common_neighbours as kernels
from pcneo.kernels.compilation import compilation_announced
from pcneo.kernels.degeneracy import by_core
from pcneo.kernels.threads import run_ranges

_COUNTS = "the clique counts"


def largest_common(graph: Graph, *, concurrency: int | None = None) -> tuple[NDArray[np.int64], int]:
    """Return c(v), the largest |N(v) ∩ N(u)| over u != v, adjacent or not, and C, the largest c(v).

    Returns:
        c: int64, shape (n,).
        C: an int; 0 for a graph without vertices.
    """
    degrees = graph.degrees
    u = np.repeat(np.arange(graph.vertex_count), degrees)
    costs = np.bincount(u, degrees[graph.neighbours], graph.vertex_count).astype(np.int64)
    with compilation_announced(_COUNTS):

        def count(largest: NDArray[np.int64], start: int, end: int) -> None:
            kernels.largest_common(graph.offsets, graph.neighbours, start, end, largest)

        parts = run_ranges(costs, lambda: np.zeros(graph.vertex_count, np.int64), count, concurrency)
    c = np.maximum.reduce(parts)
    highest = int(c.max(initial=0))
    if (c > degrees).any() or (highest > 0 and np.count_nonzero(c == highest) < 2):
        raise fault("The common neighbours cannot be right")
    return c, highest


def largest_common_inside(graph: Graph, batch: CohesionBatch, *, concurrency: int | None = None) -> NDArray[np.int64]:
    """Return cn_in(v), the largest |N(v) ∩ N(u) ∩ MC(v)| over u in MC(v), u != v: int64, (b,); 0 without such u."""
    check_batch(graph, batch)
    largest = np.zeros(len(batch), np.int64)
    with compilation_announced(_COUNTS):
        dag = by_core(graph.offsets, graph.neighbours)

        def count(_: None, start: int, end: int) -> None:
            kernels.largest_common_inside(
                dag,
                graph.offsets,
                graph.neighbours,
                batch.vertices[start:end],
                batch.offsets[start : end + 1],
                batch.members,
                largest[start:end],
            )

        run_ranges(batch.sizes + graph.degrees[batch.vertices], lambda: None, count, concurrency)
    if (largest > np.maximum(batch.sizes - 2, 0)).any():
        raise fault("cn_in is larger than its cohesion allows")
    return largest


def degrees_inside(graph: Graph, batch: CohesionBatch) -> NDArray[np.int64]:
    """Return deg(v, MC(v)), the number of neighbours of v among the members of its cohesion: int64, shape (b,)."""
    check_batch(graph, batch)
    inside = np.zeros(len(batch), np.int64)
    with compilation_announced(_COUNTS):
        kernels.degrees_inside(graph.offsets, graph.neighbours, batch.vertices, batch.offsets, batch.members, inside)
    return inside
