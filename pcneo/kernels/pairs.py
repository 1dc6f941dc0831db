"""Pairs of vertices inside groups, and the graph that holds them all (privacy.md, "critical": P̂ and Ĝ).

A group is a set of vertices, and groups overlap. Each vertex collects those it shares a group with, so that a pair is
met once however many groups it lies in, and nothing is kept twice.
"""

import numpy as np
from numba import njit

__all__ = ["count_pairs", "fill_pairs", "fill_rows", "groups_of_vertices"]


@njit(nogil=True, cache=True)
def groups_of_vertices(starts, members, vertex_count):
    """Return for each vertex the groups it is in, as rows.

    Args:
        starts, members: the i-th group is `members[starts[i]:starts[i + 1]]`.
        vertex_count: n.

    Returns:
        offsets: int64, n + 1.
        groups: int64; those of v are `groups[offsets[v]:offsets[v + 1]]`.
    """
    counts = np.zeros(vertex_count + 1, np.int64)
    for v in members:
        counts[v + 1] += 1
    offsets = np.cumsum(counts)
    filled = offsets.copy()
    groups = np.empty(len(members), np.int64)
    for i in range(len(starts) - 1):
        for v in members[starts[i] : starts[i + 1]]:
            groups[filled[v]] = i
            filled[v] += 1
    return offsets, groups


@njit(nogil=True, cache=True)
def _collect(v, smallest, starts, members, offsets, groups, seen, found, count):
    """Append to `found` the vertices from `smallest` on that share a group with v and are not seen yet; see them."""
    for group in groups[offsets[v] : offsets[v + 1]]:
        for w in members[starts[group] : starts[group + 1]]:
            if w >= smallest and w != v and seen[w] != v:
                seen[w] = v
                found[count] = w
                count += 1
    return count


@njit(nogil=True, cache=True)
def count_pairs(neighbours_at, neighbours, starts, members, offsets, groups, first, last, pairs, degrees):
    """Put into `pairs[v]` how many w > v share a group with v, and into `degrees[v]` how many neighbours v has in Ĝ.

    Args:
        neighbours_at, neighbours: the graph's rows.
        starts, members, offsets, groups: the groups, and those of each vertex.
        first, last: the vertices first..last-1.
        pairs, degrees: int64, n.
    """
    seen = np.full(len(offsets) - 1, -1, np.int64)
    found = np.empty(len(offsets) - 1, np.uint32)
    for v in range(first, last):
        shared = _collect(v, 0, starts, members, offsets, groups, seen, found, 0)
        pairs[v] = np.sum(found[:shared] > v)
        degrees[v] = shared
        for w in neighbours[neighbours_at[v] : neighbours_at[v + 1]]:
            degrees[v] += seen[w] != v


@njit(nogil=True, cache=True)
def fill_pairs(starts, members, offsets, groups, first, last, pairs_at, codes):
    """Put the pairs {v, w}, v < w, of the vertices first..last-1 into `codes`, as v·n + w, ascending.

    Args:
        starts, members, offsets, groups: the groups, and those of each vertex.
        first, last: the vertices v.
        pairs_at: int64, n + 1; the pairs of v go to `codes[pairs_at[v]:pairs_at[v + 1]]`.
        codes: int64.
    """
    n = len(offsets) - 1
    seen = np.full(n, -1, np.int64)
    found = np.empty(n, np.uint32)
    for v in range(first, last):
        count = _collect(v, v + 1, starts, members, offsets, groups, seen, found, 0)
        codes[pairs_at[v] : pairs_at[v] + count] = v * n + np.sort(found[:count]).astype(np.int64)


@njit(nogil=True, cache=True)
def fill_rows(neighbours_at, neighbours, starts, members, offsets, groups, first, last, rows_at, rows):
    """Put the neighbours in Ĝ of the vertices first..last-1 into `rows`, ascending.

    Args:
        neighbours_at, neighbours: the graph's rows.
        starts, members, offsets, groups: the groups, and those of each vertex.
        first, last: the vertices.
        rows_at: int64, n + 1; the neighbours of v go to `rows[rows_at[v]:rows_at[v + 1]]`.
        rows: uint32.
    """
    n = len(offsets) - 1
    seen = np.full(n, -1, np.int64)
    found = np.empty(n, np.uint32)
    for v in range(first, last):
        count = _collect(v, 0, starts, members, offsets, groups, seen, found, 0)
        for w in neighbours[neighbours_at[v] : neighbours_at[v + 1]]:
            if seen[w] != v:
                found[count] = w
                count += 1
        rows[rows_at[v] : rows_at[v] + count] = np.sort(found[:count])
