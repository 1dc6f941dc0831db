"""The loss of a pair of vertices, on arrays (GUARANTEE.md#loss-of-one-connection).

Connecting or disconnecting a pair creates or destroys k-cliques: the pair with k-2 of its common neighbours that are
all adjacent. The loss adds up the rates of the vertices of each. For k >= 4 the cliques are counted, not listed, by the
walk in `cliques`, with the pair in place of the root.
"""

import numpy as np
from numba import njit

from pcneo.kernels.cliques import count_at_root, start_matrix

__all__ = ["clique_losses", "count_common", "triangle_losses"]


@njit(nogil=True, cache=True)
def _common(offsets, neighbours, a, b, shared):
    """Put the common neighbours of a and b into `shared`, ascending; return their number."""
    count, i, j = 0, offsets[a], offsets[b]
    while i < offsets[a + 1] and j < offsets[b + 1]:
        v, w = neighbours[i], neighbours[j]
        if v == w:
            shared[count] = v
            count += 1
        i += v <= w
        j += w <= v
    return count


@njit(nogil=True, cache=True)
def count_common(offsets, neighbours, sources, targets, first, last, common):
    """Fill `common` with the number of common neighbours of each of the pairs first..last-1.

    Args:
        offsets, neighbours: the graph's rows.
        sources, targets: int64, the ends of each pair.
        first, last: the pairs.
        common: int64, one per pair.
    """
    shared = np.empty(len(offsets) - 1, np.uint32)
    for i in range(first, last):
        common[i] = _common(offsets, neighbours, sources[i], targets[i], shared)


@njit(nogil=True, cache=True)
def triangle_losses(offsets, neighbours, sources, targets, rates, first, last, losses):
    """Fill `losses` with the loss of each of the pairs first..last-1, for k = 3.

    The common neighbours of a source with all other vertices are computed once for consecutive pairs that share the
    source, so order the pairs by source.

    Args:
        offsets, neighbours, sources, targets, first, last: as in `count_common`.
        rates: float64, n; the loss per clique at each vertex, 1/t_v.
        losses: float64, one per pair.
    """
    common, sums, source = np.zeros(len(rates), np.int64), np.zeros(len(rates)), np.int64(-1)
    for i in range(first, last):
        if sources[i] != source:
            if source >= 0:
                for w in neighbours[offsets[source] : offsets[source + 1]]:
                    for v in neighbours[offsets[w] : offsets[w + 1]]:
                        common[v], sums[v] = 0, 0.0
            source = sources[i]
            for w in neighbours[offsets[source] : offsets[source + 1]]:
                for v in neighbours[offsets[w] : offsets[w + 1]]:
                    common[v] += 1
                    sums[v] += rates[w]
        v = targets[i]
        losses[i] = 0.0
        if common[v] > 0:
            losses[i] = common[v] * (rates[source] + rates[v]) + sums[v]


@njit(nogil=True, cache=True)
def clique_losses(dag, k, offsets, neighbours, sources, targets, rates, first, last, chosen, limit, work, losses):
    """Fill `losses` with the loss of each of the pairs first..last-1, for some k >= 4.

    Args:
        dag: the graph, every edge once.
        k: 4 or more.
        offsets, neighbours, sources, targets, rates, first, last, losses: as in `triangle_losses`.
        chosen: `binomials` for the largest number of common neighbours of a pair, and k-1.
        limit: steps to take before giving up.
        work: a workspace of that size for k-1; no other thread may use it meanwhile.

    Returns:
        fits: whether every number fitted.
        looked: steps taken; more than `limit` if it gave up.

        If it gave up, or a number did not fit, discard `losses` and `work`.
    """
    shared = np.empty(len(work.credits), np.uint32)
    looked = 0
    for i in range(first, last):
        a, b = sources[i], targets[i]
        losses[i] = 0.0
        count = _common(offsets, neighbours, a, b, shared)
        looked += offsets[a + 1] - offsets[a] + offsets[b + 1] - offsets[b]
        if count < k - 2:
            continue
        local = shared[:count]
        for j in range(count):
            local[j] = dag.rank[local[j]]
            looked += dag.offsets[local[j] + 1] - dag.offsets[local[j]]
        words = start_matrix(dag, work, local)
        total, more = count_at_root(work, count, words, k - 1, chosen, limit - looked)
        looked += more
        if total < 0 or looked > limit:
            return total >= 0, looked
        if total > 0:
            losses[i] = total * (rates[a] + rates[b])
            for j in range(count):
                if work.credits[j] > 0:
                    losses[i] += work.credits[j] * rates[dag.order[local[j]]]
        work.credits[:count] = 0
    return True, looked
