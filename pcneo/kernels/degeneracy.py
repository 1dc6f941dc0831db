"""The graph with every edge once, pointing so that no vertex has many successors (Matula and Beck, 1983).

Vertices leave the graph one by one, always one with the fewest neighbours left. Nobody then has more neighbours that
leave later than the graph's degeneracy, which is what clique counting costs depend on.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["Dag", "orient"]


class Dag(NamedTuple):
    """The graph as an acyclic one. Its vertices are numbered by when they leave.

    Attributes:
        order: uint32, n; the vertex of the graph that leaves i-th.
        offsets: int64, n + 1; the successors of i are `heads[offsets[i]:offsets[i + 1]]`.
        heads: uint32, m; all larger than i, in no particular order.
        edges: int64, m; where the edge is among all edges u < v of the graph, ascending by u, then v.
    """

    order: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    heads: NDArray[np.uint32]
    edges: NDArray[np.int64]


@njit(nogil=True, cache=True)
def _leaving_order(offsets, neighbours):
    """Return the vertices as they leave, kept in buckets by the neighbours they have left (Batagelj and Zaversnik)."""
    n = len(offsets) - 1
    left = offsets[1:] - offsets[:-1]
    starts = np.zeros(n + 1, np.int64)  # where the bucket of those with so many left begins in `order`
    for v in range(n):
        starts[left[v] + 1] += 1
    starts = np.cumsum(starts)
    filled = starts.copy()
    order, position = np.empty(n, np.uint32), np.empty(n, np.int64)
    for v in range(n):
        position[v] = filled[left[v]]
        order[position[v]] = v
        filled[left[v]] += 1
    for i in range(n):
        v = order[i]
        for w in neighbours[offsets[v] : offsets[v + 1]]:
            if left[w] > left[v]:
                first = starts[left[w]]
                other = order[first]
                order[first], order[position[w]] = w, other
                position[other], position[w] = position[w], first
                starts[left[w]] += 1
                left[w] -= 1
    return order


@njit(nogil=True, cache=True)
def orient(offsets, neighbours):
    """Return the graph of these rows as a `Dag`.

    Args:
        offsets: int64, n + 1.
        neighbours: uint32, both ends of every edge, ascending within each vertex.
    """
    n = len(offsets) - 1
    order = _leaving_order(offsets, neighbours)
    rank = np.empty(n, np.int64)
    for i in range(n):
        rank[order[i]] = i
    starts = np.zeros(n + 1, np.int64)
    for v in range(n):
        for w in neighbours[offsets[v] : offsets[v + 1]]:
            starts[rank[v] + 1] += rank[v] < rank[w]
    starts = np.cumsum(starts)
    filled = starts.copy()
    heads, edges = np.empty(len(neighbours) // 2, np.uint32), np.empty(len(neighbours) // 2, np.int64)
    edge = 0
    for v in range(n):
        for w in neighbours[offsets[v] : offsets[v + 1]]:
            if v < w:
                tail = min(rank[v], rank[w])
                heads[filled[tail]] = max(rank[v], rank[w])
                edges[filled[tail]] = edge
                filled[tail] += 1
                edge += 1
    return Dag(order, starts, heads, edges)
