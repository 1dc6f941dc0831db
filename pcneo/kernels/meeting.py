"""The largest weight of a pair that is in a k-clique with a vertex, in a graph in memory (GUARANTEE.md#critical)."""

import numpy as np
from numba import njit

__all__ = ["largest_of_vertices"]


@njit(nogil=True, cache=True)
def _both(a, b):
    """The numbers that two ascending arrays have in common."""
    both = np.empty(min(len(a), len(b)), np.uint32)
    count, j = 0, 0
    for v in a:
        while j < len(b) and b[j] < v:
            j += 1
        if j < len(b) and b[j] == v:
            both[count] = v
            count += 1
    return both[:count]


@njit(nogil=True, cache=True)
def _has(row, v):
    """Whether an ascending array has a number."""
    low, high = 0, len(row)
    while low < high:
        middle = (low + high) // 2
        if row[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low < len(row) and row[low] == v


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
    """Return for each vertex the largest weight of a pair in a k-clique with it, 0 if there is none.

    Pairs come by falling weight, so the first that meets a vertex is its largest.

    Args:
        offsets, neighbours: the rows of a graph in which each pair is an edge.
        k: 3 or more.
        sources, targets: int64; the ends of each pair.
        weights: int64, falling; positive only for pairs in some k-clique.

    Returns:
        int64, n.
    """
    largest = np.zeros(len(offsets) - 1, np.int64)
    unmet = neighbours.copy()  # each row begins with the neighbours that no pair has met yet
    left = offsets[1:] - offsets[:-1]  # how many these are at most: a row is looked through when a pair needs it
    for i in range(len(weights)):
        if weights[i] == 0:
            break
        a, b = sources[i], targets[i]
        if left[a] > left[b]:
            a, b = b, a
        some = largest[a] == 0 or largest[b] == 0
        row, count = unmet[offsets[a] : offsets[a] + left[a]], 0
        for v in row:
            if largest[v] == 0:
                row[count] = v
                count += 1
                some = some or _has(neighbours[offsets[b] : offsets[b + 1]], v)
        left[a] = count
        if not some:
            continue
        common = _both(neighbours[offsets[a] : offsets[a + 1]], neighbours[offsets[b] : offsets[b + 1]])
        for j in range(-2, len(common)):
            v = a if j == -2 else b if j == -1 else np.int64(common[j])
            if largest[v] > 0:
                continue
            near = neighbours[offsets[v] : offsets[v + 1]]
            if _holds_clique(offsets, neighbours, _both(common, near), k - 3):
                largest[v] = weights[i]
    return largest
