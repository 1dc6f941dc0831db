"""Triangles on arrays: their number at each vertex and at each edge."""

import numpy as np
from numba import njit

from pcneo.kernels.instructions import fetch


@njit(nogil=True, cache=True, forceinline=True)
def _successors(dag, v):
    return dag.heads[dag.offsets[v] : dag.offsets[v + 1]]


@njit(nogil=True, cache=True)
def count_triangles(dag, start, end, counts, at_root):
    """Add the triangles whose root is one of start..end-1 to the counts of their vertices.

    Args:
        dag: the graph.
        start, end: the roots, by rank.
        counts: int64, n; by rank.
        at_root: int64, n; filled with the number of triangles of each root.
    """
    near = np.zeros(len(dag.order), np.uint8)
    for root in range(start, end):
        local = _successors(dag, root)
        for v in local:
            near[v] = 1
            fetch(dag.heads, dag.offsets[v])  # short rows, scattered in memory
        total = 0
        for v in local:
            third = 0
            for w in _successors(dag, v):
                third += near[w]
                counts[w] += near[w]  # without a branch, which the processor would mispredict
            counts[v] += third
            total += third
        counts[root] += total
        at_root[root] = total
        for v in local:
            near[v] = 0


@njit(nogil=True, cache=True)
def triangle_supports(dag, start, end, supports, at_root):
    """Add the triangles whose root is one of start..end-1 to the supports of their edges.

    Args:
        dag, start, end, at_root: as in `count_triangles`.
        supports: int64, m; in the order of `dag.heads`.
    """
    near = np.zeros(len(dag.order), np.uint8)
    met = np.zeros(len(dag.order), np.int64)
    for root in range(start, end):
        local = _successors(dag, root)
        for v in local:
            near[v] = 1
            fetch(dag.heads, dag.offsets[v])  # short rows, scattered in memory
        total = 0
        for i, v in enumerate(local):
            third = 0
            for arc in range(dag.offsets[v], dag.offsets[v + 1]):
                w = dag.heads[arc]
                third += near[w]
                supports[arc] += near[w]
                met[w] += near[w]
            supports[dag.offsets[root] + i] += third
            total += third
        at_root[root] = total
        for i, v in enumerate(local):
            supports[dag.offsets[root] + i] += met[v]
            near[v], met[v] = 0, 0
