"""Minimal p-cohesions on arrays: expand, both scores, shrink (algorithms.md sections 3 to 5; the paper's Algorithms 1, 2).

Vertices are positions, so the smaller identifier is the smaller number. `need[v]` says how many neighbours of v must be
inside; p itself is not known here. A vertex whose need is negative is one whose neighbours are not known yet: the
search stops there and names them, so that it also runs on a graph that is being fetched.

What expand knows of a vertex w is one 64-bit word, `work.counts[w]`, so that a join adds to all three counts at once:

    bits  0-20   in(w) = deg(w, P)
    bits 21-41   cn    = |N(w) ∩ N(q) ∩ P|
    bits 42-62   c     = |{u in N(w) ∩ P : in(u) < need(u)}|
    bit  63      w has joined P: the word is negative

Each count is at most deg(w), and degrees are at most `MAX_DEGREE` = 2^21 - 1, where d^3 still fits 64 bits too.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["DEGREE", "DENSITY", "MAX_DEGREE", "Rows", "Workspace", "expand", "minimal_cohesions", "shrink", "workspace"]

DENSITY = 0
DEGREE = 1

MAX_DEGREE = (1 << 21) - 1
_COUNT = MAX_DEGREE
_CN = 21
_C = 42
_JOINED = np.int64(-(2**63))


class Rows(NamedTuple):
    """The graph as the kernels take it.

    Attributes:
        offsets: int64, n + 1 entries; the neighbours of v are `neighbours[offsets[v]:offsets[v + 1]]`.
        neighbours: uint32, ascending within each vertex.
        need: int64, n entries; negative where the neighbours of a vertex are not known.
    """

    offsets: NDArray[np.int64]
    neighbours: NDArray[np.uint32]
    need: NDArray[np.int64]


class Workspace(NamedTuple):
    """Memory of one thread, reused from query to query; between queries `counts` is zero.

    Attributes:
        counts: int64, n; the words described at the top of this module.
        order: uint32, n; the members of P in join order.
        lacking: uint32, n; the members of P that may still lack neighbours.
        holders: int64, largest degree + 2; how many vertices o outside P have in(o) = i, for i > 0.
        largest: int64, largest degree + 1; the sum of the i largest in(o) of all vertices o outside P.
        scores, ranked: float64 and int64, largest degree; the heap of candidates.
        tally: int64, largest degree + 1; how many neighbours of a vertex have in(o) = i.
    """

    counts: NDArray[np.int64]
    order: NDArray[np.uint32]
    lacking: NDArray[np.uint32]
    holders: NDArray[np.int64]
    largest: NDArray[np.int64]
    scores: NDArray[np.float64]
    ranked: NDArray[np.int64]
    tally: NDArray[np.int64]


def workspace(vertex_count: int, max_degree: int) -> Workspace:
    """Return a fresh workspace for graphs of at most so many vertices and such a largest degree."""
    return Workspace(
        counts=np.zeros(vertex_count, np.int64),
        order=np.zeros(vertex_count, np.uint32),
        lacking=np.zeros(vertex_count, np.uint32),
        holders=np.zeros(max_degree + 2, np.int64),
        largest=np.zeros(max_degree + 1, np.int64),
        scores=np.zeros(max_degree, np.float64),
        ranked=np.zeros(max_degree, np.int64),
        tally=np.zeros(max_degree + 1, np.int64),
    )


# --- Section 4: the scores


@njit(nogil=True, cache=True, forceinline=True)
def _density(word, degree, lacking, helpers):
    """Merit less penalty (equations 8 to 10), with l = `lacking` and Σ = `helpers`."""
    product = (word & _COUNT) * (word >> _CN & _COUNT) * (word >> _C & _COUNT)
    merit = np.float64(product) / np.float64(degree * degree * degree)
    return merit - np.float64(lacking) / np.float64(max(1, helpers))


@njit(nogil=True, cache=True, forceinline=True)
def _sum_of_largest(rows, counts, tally, w, count):
    """Σ of section 4: the sum of the `count` largest in(o) over w's neighbours o outside P."""
    highest = 0
    for i in range(rows.offsets[w], rows.offsets[w + 1]):
        word = counts[rows.neighbours[i]]
        inside = (word & _COUNT) & ~(word >> 63)
        tally[inside] += 1
        highest = max(highest, inside)
    total = 0
    for inside in range(highest, 0, -1):
        taken = min(count, tally[inside])
        total += taken * inside
        count -= taken
        tally[inside] = 0
    return total


# --- A heap of candidates: largest score first, ties to the smaller vertex


@njit(nogil=True, cache=True, forceinline=True)
def _sift_down(scores, vertices, size, i):
    """Restore the order of the heap's first `size` entries below place i."""
    score, vertex = scores[i], vertices[i]
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        other = child + 1
        if other < size and (
            scores[other] > scores[child] or (scores[other] == scores[child] and vertices[other] < vertices[child])
        ):
            child = other
        if score > scores[child] or (score == scores[child] and vertex < vertices[child]):
            break
        scores[i], vertices[i] = scores[child], vertices[child]
        i = child
    scores[i], vertices[i] = score, vertex


# --- Section 3: expand


@njit(nogil=True, cache=True)
def _is_neighbour(rows, v, w):
    """Whether w is among the neighbours of v, by bisection."""
    low, high = rows.offsets[v], rows.offsets[v + 1]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if rows.neighbours[middle] < w:
            low = middle + 1
        else:
            high = middle
    return low < end and rows.neighbours[low] == w


@njit(nogil=True, cache=True)
def _join(rows, work, q, v):
    """Let v join P, as one that lacks neighbours until `_take` finds that it does not; return the largest new in(o)."""
    highest = 0
    counts, holders = work.counts, work.holders
    holders[counts[v] & _COUNT] -= 1
    counts[v] |= _JOINED
    amount = 1 + (1 << _C)
    if _is_neighbour(rows, q, v):
        amount += 1 << _CN
    for i in range(rows.offsets[v], rows.offsets[v + 1]):
        w = rows.neighbours[i]
        word = counts[w]
        counts[w] = word + amount
        if word >= 0:
            inside = word & _COUNT
            holders[inside] -= 1
            holders[inside + 1] += 1
            highest = max(highest, inside + 1)
    return highest


@njit(nogil=True, cache=True)
def _take(rows, work, count):
    """Forget the lacking members that lack no more; return how many are left and the one with the largest in(v)."""
    left, best, most = 0, -1, -1
    counts = work.counts
    for i in range(count):
        v = np.int64(work.lacking[i])
        inside = counts[v] & _COUNT
        if inside >= rows.need[v]:
            for k in range(rows.offsets[v], rows.offsets[v + 1]):
                counts[rows.neighbours[k]] -= 1 << _C
            continue
        work.lacking[left] = v
        left += 1
        if inside > most or (inside == most and v < best):
            best, most = v, inside
    return left, best


@njit(nogil=True, cache=True)
def _candidates(rows, work, v):
    """List v's neighbours outside P in `work.ranked`; those not known yet alone, if there are any."""
    size, unknown = 0, 0
    for i in range(rows.offsets[v], rows.offsets[v + 1]):
        w = np.int64(rows.neighbours[i])
        if work.counts[w] < 0:
            continue
        if rows.need[w] < 0:
            work.ranked[unknown] = w
            unknown += 1
        elif unknown == 0:
            work.ranked[size] = w
            size += 1
    return size, unknown


@njit(nogil=True, cache=True)
def _bound(rows, work, score, size, highest):
    scores, ranked, counts, largest, holders = work.scores, work.ranked, work.counts, work.largest, work.holders
    filled = 0
    level = highest
    left = holders[level]
    for i in range(size):
        w = ranked[i]
        word = counts[w]
        lacking = max(0, rows.need[w] - (word & _COUNT))
        if score == DEGREE:
            scores[i] = np.float64((word >> _C & _COUNT) - lacking)
            ranked[i] = 2 * w
        else:
            while filled < lacking:
                while left == 0 and level > 0:
                    level -= 1
                    left = holders[level] if level > 0 else 1 << 40
                left -= 1
                largest[filled + 1] = largest[filled] + level
                filled += 1
            scores[i] = _density(word, rows.offsets[w + 1] - rows.offsets[w], lacking, largest[lacking])
            ranked[i] = 2 * w + (lacking > 0)


@njit(nogil=True, cache=True)
def _best(rows, work, score, size, wanted, joined):
    """Move the best `wanted` candidates, best first, into the join order; return its new length."""
    scores, ranked, counts = work.scores, work.ranked, work.counts
    for i in range(size // 2 - 1, -1, -1):
        _sift_down(scores, ranked, size, i)
    while wanted > 0:
        w = ranked[0] >> 1
        if ranked[0] & 1:
            word = counts[w]
            lacking = rows.need[w] - (word & _COUNT)
            helpers = _sum_of_largest(rows, counts, work.tally, w, lacking)
            scores[0] = _density(word, rows.offsets[w + 1] - rows.offsets[w], lacking, helpers)
            ranked[0] = 2 * w
        else:
            work.order[joined] = w
            joined += 1
            wanted -= 1
            size -= 1
            scores[0], ranked[0] = scores[size], ranked[size]
        _sift_down(scores, ranked, size, 0)
    return joined


@njit(nogil=True, cache=True)
def expand(rows, score, q, work):
    """Algorithm 1: put the members of P into `work.order`.

    Returns:
        (members of P, 0), or (members so far, m) when the m vertices now in `work.ranked` have to be known first.
    """
    work.holders[:] = 0
    work.order[0] = q
    highest = _join(rows, work, q, q)
    work.lacking[0] = q
    joined, lacking = 1, 1
    while True:
        lacking, v = _take(rows, work, lacking)
        if lacking == 0:
            return joined, 0
        size, unknown = _candidates(rows, work, v)
        if unknown > 0:
            return joined, unknown
        first = joined
        while highest > 0 and work.holders[highest] == 0:
            highest -= 1
        _bound(rows, work, score, size, highest)
        joined = _best(rows, work, score, size, rows.need[v] - (work.counts[v] & _COUNT), joined)
        for i in range(first, joined):
            highest = max(highest, _join(rows, work, q, np.int64(work.order[i])))
            work.lacking[lacking] = work.order[i]
            lacking += 1


# --- Section 5: shrink


@njit(nogil=True, cache=True)
def _subgraph(rows, work, joined):
    """Return the subgraph of P as rows of its own, numbered by join order, and forget P."""
    order, counts = work.order, work.counts
    total = 0
    for i in range(joined):
        total += counts[order[i]] & _COUNT
    offsets, neighbours = np.empty(joined + 1, np.int64), np.empty(total, np.uint32)
    need = np.empty(joined, np.int64)
    for i in range(joined):
        v = order[i]
        for k in range(rows.offsets[v], rows.offsets[v + 1]):
            counts[rows.neighbours[k]] = 0
    for i in range(joined):
        counts[order[i]] = i + 1
    end = 0
    for i in range(joined):
        v = order[i]
        offsets[i] = end
        need[i] = rows.need[v]
        for k in range(rows.offsets[v], rows.offsets[v + 1]):
            place = counts[rows.neighbours[k]]
            if place > 0:
                neighbours[end] = place - 1
                end += 1
    offsets[joined] = end
    for i in range(joined):
        counts[order[i]] = 0
    return Rows(offsets, neighbours, need)


@njit(nogil=True, cache=True)
def _remove(rows, spare, state, queue, v):
    """Remove v and whoever then falls below its need; undo it all and return False where that reaches `must`."""
    queue[0] = v
    state[v] = 0
    size, done = 1, 0
    while done < size:
        x = queue[done]
        done += 1
        for i in range(rows.offsets[x], rows.offsets[x + 1]):
            w = rows.neighbours[i]
            spare[w] -= 1
            if spare[w] < 0 and state[w] > 0:
                if state[w] == 2:
                    for k in range(rows.offsets[x], i + 1):
                        spare[rows.neighbours[k]] += 1
                    for j in range(done - 1):
                        for k in range(rows.offsets[queue[j]], rows.offsets[queue[j] + 1]):
                            spare[rows.neighbours[k]] += 1
                    for j in range(size):
                        state[queue[j]] = 1
                    return False
                state[w] = 0
                queue[size] = w
                size += 1
    return True


@njit(nogil=True, cache=True)
def shrink(rows):
    """Algorithm 2 on a p-cohesion whose vertices are numbered by join order, 0 the queried one, last joined first.

    Returns:
        uint8 array: 0 for a vertex that was removed, 1 or 2 for a member of the minimal p-cohesion.
    """
    count = len(rows.need)
    state = np.ones(count, np.uint8)
    spare = np.empty(count, np.int64)
    queue = np.empty(count, np.int64)
    for v in range(count):
        spare[v] = rows.offsets[v + 1] - rows.offsets[v] - rows.need[v]
    state[0] = 2
    for v in range(count - 1, 0, -1):
        if state[v] == 1 and not _remove(rows, spare, state, queue, v):
            state[v] = 2
    return state


# --- Many queries


@njit(nogil=True, cache=True)
def _forget(rows, work, joined):
    """Set the words of P and its neighbours to zero."""
    for v in work.order[:joined]:
        work.counts[v] = 0
        for w in rows.neighbours[rows.offsets[v] : rows.offsets[v + 1]]:
            work.counts[w] = 0


@njit(nogil=True, cache=True)
def minimal_cohesions(rows, score, queries, work):
    """Minimal p-cohesions of the queried vertices, one after another.

    Args:
        rows: the graph.
        score: DENSITY or DEGREE.
        queries: int64, vertices whose neighbours are known.
        work: a workspace for this graph, used by nobody else meanwhile.

    Returns:
        ends: int64, one for each cohesion found; the i-th is `members[ends[i - 1]:ends[i]]`, from 0 for the first.
        members: uint32, in join order, the queried vertex first.
        missing: uint32; if not empty, the query after the last found one needs the neighbours of these vertices.
    """
    ends = np.empty(len(queries), np.int64)
    members = np.empty(16 * len(queries), np.uint32)
    filled = 0
    for i, q in enumerate(queries):
        joined, unknown = expand(rows, score, q, work)
        if unknown > 0:
            _forget(rows, work, joined)
            return ends[:i], members[:filled], work.ranked[:unknown].astype(np.uint32)
        state = shrink(_subgraph(rows, work, joined))
        if filled + joined > len(members):
            grown = np.empty(2 * (filled + joined), np.uint32)
            grown[:filled] = members[:filled]
            members = grown
        for k in range(joined):
            if state[k] > 0:
                members[filled] = work.order[k]
                filled += 1
        ends[i] = filled
    return ends, members[:filled], np.empty(0, np.uint32)
