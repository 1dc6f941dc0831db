"""Triangles on arrays: how many there are at each vertex and at each edge."""

import numpy as np
from numba import njit

from pcneo.kernels.instructions import fetch

__all__ = ["count_triangles", "triangle_supports"]


@njit(nogil=True, cache=True, forceinline=True)
def _successors(dag, v):
    return dag.heads[dag.offsets[v] : dag.offsets[v + 1]]


@njit(nogil=True, cache=True)
def count_triangles(dag, start, end, counts, at_root):
    """Add to `counts` the triangles whose root is one of start..end-1, for each vertex in them.

    Args:
        dag: the graph.
        start, end: the roots, by when they leave.
        counts: int64, n; by when vertices leave.
        at_root: int64, n; the number of triangles of each root is put here.
    """
    near = np.zeros(len(dag.order), np.uint8)
    for root in range(start, end):
        local = _successors(dag, root)
        for v in local:
            near[v] = 1
            fetch(dag.heads, dag.offsets[v])  # the rows of successors lie anywhere, and are short
        total = 0
        for v in local:
            third = 0
            for w in _successors(dag, v):
                third += near[w]
                counts[w] += near[w]  # no branch, which would be mispredicted
            counts[v] += third
            total += third
        counts[root] += total
        at_root[root] = total
        for v in local:
            near[v] = 0


@njit(nogil=True, cache=True)
def triangle_supports(dag, start, end, supports, at_root):
    """Add to `supports` the triangles whose root is one of start..end-1, for each edge in them.

    Args:
        dag, start, end, at_root: as in `count_triangles`.
        supports: int64, m; as `dag.heads`.
    """
    near = np.zeros(len(dag.order), np.uint8)
    met = np.zeros(len(dag.order), np.int64)
    for root in range(start, end):
        local = _successors(dag, root)
        for v in local:
            near[v] = 1
            fetch(dag.heads, dag.offsets[v])  # the rows of successors lie anywhere, and are short
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
