"""What changing one pair of vertices costs, on arrays (GUARANTEE.md#loss-of-one-connection).

The k-cliques that come or go with a pair are the pair and k-2 of its common neighbours that are all adjacent. Each
costs the rates of its vertices, whether the pair is connected or not. For k >= 4 they are counted, not listed, by the
walk of `cliques`, with the pair in the place of the root.
"""

import numpy as np
from numba import njit

from pcneo.kernels.cliques import count_at_root, start_matrix

__all__ = ["clique_losses", "count_common", "triangle_losses"]


@njit(nogil=True, cache=True)
def _common(offsets, neighbours, a, b, shared):
    """Put the common neighbours of a and b into `found`, ascending; return how many they are."""
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
    """Put into `common` how many common neighbours each of the pairs first..last-1 has.

    Args:
        offsets, neighbours: the graph's rows.
        sources, targets: int64, the ends of each pair.
        first, last: the pairs.
        common: int64, one for each pair.
    """
    shared = np.empty(len(offsets) - 1, np.uint32)
    for i in range(first, last):
        common[i] = _common(offsets, neighbours, sources[i], targets[i], shared)


@njit(nogil=True, cache=True)
def triangle_losses(offsets, neighbours, sources, targets, rates, first, last, losses):
    """Put into `losses` what each of the pairs first..last-1 costs for k = 3.

    What a vertex has in common with all others is found at once, so that it is the quickest where pairs with one and
    the same source follow each other.

    Args:
        offsets, neighbours, sources, targets, first, last: as in `count_common`.
        rates: float64, n; what one clique more or less costs at each vertex.
        losses: float64, one for each pair.
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
    """Put into `losses` what each of the pairs first..last-1 costs for some k >= 4.

    Args:
        dag: the graph, every edge once.
        k: 4 or more.
        offsets, neighbours, sources, targets, rates, first, last, losses: as in `triangle_losses`.
        chosen: `binomials` for the most common neighbours that a pair has, and k-1.
        limit: how many steps to take before giving up.
        work: a workspace for so many, and k-1, used by nobody else meanwhile.

    Returns:
        fits: whether every number fitted.
        looked: steps taken; more than `limit` if it was given up.

        If it was given up or a number did not fit, nothing of this is of further use.
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
