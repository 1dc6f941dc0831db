"""The graph as a DAG: vertices leave one by one, and every edge points from the end that leaves first to the other.

Where vertices with few neighbours leave early, no vertex has many successors, and the cost of counting cliques depends
on the number of successors.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray


class Dag(NamedTuple):
    """The graph as a DAG, its vertices renumbered by when they leave.

    Attributes:
        order: uint32, n; the vertex that leaves i-th.
        rank: uint32, n; when each vertex leaves, the inverse of `order`.
        offsets: int64, n + 1; the successors of i are `heads[offsets[i]:offsets[i + 1]]`.
        heads: uint32, m; all larger than i, in no particular order.
    """

    order: NDArray[np.uint32]
    rank: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    heads: NDArray[np.uint32]


def by_degree(offsets: NDArray[np.int64], neighbours: NDArray[np.uint32]) -> Dag:
    """Return the graph as a DAG in which vertices with fewer neighbours leave first.

    No vertex then has more than √(2m) successors, and the order costs next to nothing.

    Args:
        offsets: int64, n + 1.
        neighbours: uint32, both ends of every edge, ascending within each vertex.
    """
    return _orient(offsets, neighbours, _degree_order(offsets))


def by_core(offsets: NDArray[np.int64], neighbours: NDArray[np.uint32]) -> Dag:
    """Return the graph as a DAG in which a vertex with the fewest remaining neighbours always leaves next.

    No vertex then has more successors than the graph's degeneracy (Matula and Beck, 1983).

    Arguments are those of `by_degree`.
    """
    return _orient(offsets, neighbours, _core_order(offsets, neighbours))


@njit(nogil=True, cache=True)
def _degree_order(offsets):
    """Return the vertices ordered by their number of neighbours: uint32, n."""
    n = len(offsets) - 1
    most = 0
    for v in range(n):
        most = max(most, offsets[v + 1] - offsets[v])
    filled = np.zeros(most + 2, np.int64)
    for v in range(n):
        filled[offsets[v + 1] - offsets[v] + 1] += 1
    filled = np.cumsum(filled)
    order = np.empty(n, np.uint32)
    for v in range(n):
        degree = offsets[v + 1] - offsets[v]
        order[filled[degree]] = v
        filled[degree] += 1
    return order


@njit(nogil=True, cache=True)
def _core_order(offsets, neighbours):
    """Return the vertices in the order in which they leave: uint32, n.

    They leave in levels. At level l every vertex with at most l remaining neighbours leaves, in any order, and so does
    every vertex that falls to l meanwhile. A vertex is examined once per level up to its own, so no more often than it
    has neighbours.
    """
    n = len(offsets) - 1
    left, staying = np.empty(n, np.uint32), np.empty(n, np.uint32)
    for v in range(n):
        left[v] = offsets[v + 1] - offsets[v]
        staying[v] = v
    order = np.empty(n + 1, np.uint32)  # one place more: the loop writes first and decides afterwards
    gone, leaving, count, level = 0, 0, n, np.uint32(0)
    while gone < n:
        kept, lowest = 0, np.uint32(0xFFFFFFFF)
        for i in range(count):
            v = staying[i]
            if left[v] == level:
                order[leaving] = v
                leaving += 1
            elif left[v] > level:
                staying[kept] = v
                kept += 1
                lowest = min(lowest, left[v])
        count = kept
        if leaving == gone:
            level = lowest
            continue
        while gone < leaving:
            v = order[gone]
            gone += 1
            left[v] = 0
            for w in neighbours[offsets[v] : offsets[v + 1]]:
                if left[w] > level:
                    left[w] -= np.uint32(1)
                    order[leaving] = w
                    leaving += left[w] == level
        level += np.uint32(1)
    return order[:n]


@njit(nogil=True, cache=True)
def _orient(offsets, neighbours, order):
    """Return the graph as a DAG whose vertices leave in the given order."""
    n = len(order)
    rank = np.empty(n, np.uint32)
    for i in range(n):
        rank[order[i]] = i
    starts = np.zeros(n + 1, np.int64)
    heads = np.empty(len(neighbours) // 2 + 1, np.uint32)  # as in `_core_order`
    filled = 0
    for i in range(n):
        v = order[i]
        for w in neighbours[offsets[v] : offsets[v + 1]]:
            heads[filled] = rank[w]
            filled += rank[w] > i
        starts[i + 1] = filled
    return Dag(order, rank, starts, heads[:filled])


@njit(nogil=True, cache=True)
def edge_places(dag, offsets, neighbours):
    """Return for each of `dag.heads` its edge's place among all edges u < v, ascending by u, then v: int64, m."""
    filled = dag.offsets.copy()
    places = np.empty(len(dag.heads), np.int64)
    edge = 0
    # Each vertex meets its neighbours in ascending order here, as in `_orient`.
    for u in range(len(dag.order)):
        for v in neighbours[offsets[u] : offsets[u + 1]]:
            if u < v:
                tail = min(dag.rank[u], dag.rank[v])
                places[filled[tail]] = edge
                filled[tail] += 1
                edge += 1
    return places
