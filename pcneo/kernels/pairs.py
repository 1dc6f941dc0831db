"""Pairs of vertices inside groups, the graph that has them all, and what a vertex meets (privacy.md, "critical").

A group is a set of vertices, and groups overlap. Each vertex collects those it shares a group with, so that a pair is
kept once however many groups it lies in. P̂ are these pairs, Ĝ is the graph with all of them added.
"""

import numpy as np
from numba import njit

__all__ = ["count_pairs", "fill_pairs", "fill_rows", "groups_of_vertices", "largest_of_vertices"]


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
def _collect(v, smallest, starts, members, offsets, groups, seen, found):
    """Put into `found` the vertices from `smallest` on that share a group with v, each once; return how many."""
    count = 0
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
        degrees[v] = _collect(v, 0, starts, members, offsets, groups, seen, found)
        for w in found[: degrees[v]]:
            pairs[v] += w > v
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
        count = _collect(v, v + 1, starts, members, offsets, groups, seen, found)
        for i, w in enumerate(np.sort(found[:count])):
            codes[pairs_at[v] + i] = v * n + w


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
        count = _collect(v, 0, starts, members, offsets, groups, seen, found)
        for w in neighbours[neighbours_at[v] : neighbours_at[v + 1]]:
            if seen[w] != v:
                found[count] = w
                count += 1
        for i, w in enumerate(np.sort(found[:count])):
            rows[rows_at[v] + i] = w


# --- The largest weight that a vertex meets in a clique


@njit(nogil=True, cache=True)
def _both(a, b):
    """The numbers that are in both of two ascending arrays."""
    found = np.empty(min(len(a), len(b)), np.uint32)
    count, j = 0, 0
    for v in a:
        while j < len(b) and b[j] < v:
            j += 1
        if j < len(b) and b[j] == v:
            found[count] = v
            count += 1
    return found[:count]


@njit(nogil=True, cache=True)
def _holds_clique(offsets, neighbours, candidates, size):
    """Whether `size` of the candidates, ascending vertices, are all adjacent."""
    if len(candidates) < size:
        return False
    if size <= 1:
        return True
    for i, v in enumerate(candidates):
        near = _both(candidates[i + 1 :], neighbours[offsets[v] : offsets[v + 1]])
        if _holds_clique(offsets, neighbours, near, size - 1):
            return True
    return False


@njit(nogil=True, cache=True)
def largest_of_vertices(offsets, neighbours, k, sources, targets, weights):
    """Return for each vertex the largest weight of a pair that lies with it in one k-clique, 0 where none does.

    Pairs come by falling weight, so that the first that a vertex meets is its largest.

    Args:
        offsets, neighbours: the rows of a graph in which each pair is an edge.
        k: 3 or more.
        sources, targets: int64, the ends of each pair.
        weights: int64, falling; positive only for pairs that are in some k-clique.

    Returns:
        int64, n.
    """
    largest = np.zeros(len(offsets) - 1, np.int64)
    without = offsets[1:] - offsets[:-1]  # how many neighbours have met none yet
    for i in range(len(weights)):
        a, b = sources[i], targets[i]
        if weights[i] == 0:
            break
        if largest[a] > 0 and largest[b] > 0 and min(without[a], without[b]) == 0:
            continue
        common = _both(neighbours[offsets[a] : offsets[a + 1]], neighbours[offsets[b] : offsets[b + 1]])
        for j in range(-2, len(common)):
            v = a if j == -2 else b if j == -1 else np.int64(common[j])
            if largest[v] > 0:
                continue
            near = neighbours[offsets[v] : offsets[v + 1]]
            if _holds_clique(offsets, neighbours, _both(common, near), k - 3):
                largest[v] = weights[i]
                for w in near:
                    without[w] -= 1
    return largest
