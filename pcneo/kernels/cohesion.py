"""Minimal p-cohesions on arrays: the paper's Algorithms 1 and 2 (ALGORITHM.md#expand, ALGORITHM.md#shrink).

Vertices are positions, so the smaller identifier is the smaller number. `need[v]` says how many neighbours of v must be
inside; p itself is not known here. A negative need marks a vertex whose neighbours are not known yet: a search that
comes to score it stops and names it, so that the same kernel serves a graph that is still being fetched.

What expand knows of a vertex w is one 64-bit word, `work.counts[w]`, so that a join adds to all three counts at once:

    bits  0-20   in(w) = deg(w, P)
    bits 21-41   cn    = |N(w) ∩ N(q) ∩ P|
    bits 42-62   c     = |{u in N(w) ∩ P : in(u) < need(u)}|
    bit  63      w has joined P, which makes the word negative

Each count is at most deg(w), and degrees are at most `MAX_DEGREE` = 2^21 - 1, for which d^3 fits 64 bits too.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["DEGREE", "DENSITY", "MAX_DEGREE", "Rows", "Workspace", "expand", "minimal_cohesions", "workspace"]

DENSITY = 0
DEGREE = 1

MAX_DEGREE = (1 << 21) - 1
_COUNT = MAX_DEGREE
_CN = 21
_C = 42
_JOINED = np.int64(-(2**63))

# What only reads and writes arrays it is given needs no counts of references to them, whose upkeep costs a tenth.
_OPTIONS: dict[str, Any] = {"nogil": True, "cache": True, "_nrt": False}
_compiled = njit(**_OPTIONS)
_inlined = njit(forceinline=True, **_OPTIONS)


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
    """Memory of one thread, used for one query after another; between queries the first three and `tally` are zero.

    Attributes:
        counts: int64, n; the words described at the top of this module.
        holders: int64, largest degree + 1; holders[i] is the number of vertices o outside P with in(o) >= i, for i > 0.
        tally: int64, largest degree + 1; the same among the neighbours of one vertex, for the time of a sum.
        order: uint32, n; the members of P in join order.
        lacking: uint32, n; the members of P that may still lack neighbours.
        penalties: float64, largest degree + 1; penalties[l] is l over the sum of the l largest in(o) outside P.
        scores, ranked: float64 and int64, largest degree; the heap of candidates.
    """

    counts: NDArray[np.int64]
    holders: NDArray[np.int64]
    tally: NDArray[np.int64]
    order: NDArray[np.uint32]
    lacking: NDArray[np.uint32]
    penalties: NDArray[np.float64]
    scores: NDArray[np.float64]
    ranked: NDArray[np.int64]


def workspace(vertex_count: int, max_degree: int) -> Workspace:
    """Return a fresh workspace for a graph of so many vertices and such a largest degree."""
    return Workspace(
        counts=np.zeros(vertex_count, np.int64),
        holders=np.zeros(max_degree + 1, np.int64),
        tally=np.zeros(max_degree + 1, np.int64),
        order=np.zeros(vertex_count, np.uint32),
        lacking=np.zeros(vertex_count, np.uint32),
        penalties=np.zeros(max_degree + 1, np.float64),
        scores=np.zeros(max_degree, np.float64),
        ranked=np.zeros(max_degree, np.int64),
    )


@_inlined
def _row(rows, v):
    """Where v's neighbours begin and end; unsigned, because a signed index is tested for its sign at every access."""
    return np.uint64(rows.offsets[v]), np.uint64(rows.offsets[v + 1])


# --- The scores (ALGORITHM.md#scores)


@_inlined
def _merit(word, degree):
    """Equation 8: in * cn * c / degree^3, with one division."""
    product = (word & _COUNT) * (word >> _CN & _COUNT) * (word >> _C & _COUNT)
    return np.float64(product) / np.float64(degree * degree * degree) if product > 0 else 0.0


@_inlined
def _penalty(lacking, helpers):
    """Equation 9: l = `lacking` over Σ = `helpers`; it shrinks as Σ grows."""
    return np.float64(lacking) / np.float64(max(1, helpers))


@_inlined
def _degree(word, lacking):
    """Members of P that w helps, less the neighbours it lacks itself."""
    return np.float64((word >> _C & _COUNT) - lacking)


@_inlined
def _sum_of_largest(rows, counts, tally, w, count):
    """Σ: the sum of the `count` largest in(o) over w's neighbours o outside P."""
    highest = 0
    start, stop = _row(rows, w)
    for i in range(start, stop):
        word = counts[rows.neighbours[i]]
        inside = (word & _COUNT) & ~(word >> 63)  # 0 for a member of P, which adds nothing
        tally[np.uint64(inside)] += 1
        highest = max(highest, inside)
    total, inside = 0, highest
    while inside > 0 and count > 0:
        taken = min(count, tally[np.uint64(inside)])
        total += taken * inside
        count -= taken
        inside -= 1
    for i in range(np.uint64(highest + 1)):
        tally[i] = 0
    return total


# --- A heap of candidates: largest score first, ties to the smaller identifier


@_inlined
def _precedes(score, vertex, other_score, other_vertex):
    return (score > other_score) | ((score == other_score) & (vertex < other_vertex))


@_inlined
def _sift_down(scores, ranked, size, i):
    """Restore the heap of the first `size` entries below place i."""
    score, vertex = scores[i], ranked[i]
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and _precedes(scores[child + 1], ranked[child + 1], scores[child], ranked[child]):
            child += 1
        if _precedes(score, vertex, scores[child], ranked[child]):
            break
        scores[i], ranked[i] = scores[child], ranked[child]
        i = child
    scores[i], ranked[i] = score, vertex


# --- Expand (ALGORITHM.md#expand)


@_inlined
def _is_neighbour(rows, v, w):
    """Whether w is among the neighbours of v, by bisection."""
    low, high = rows.offsets[v], rows.offsets[v + 1]
    while low < high:
        middle = (low + high) >> 1
        if rows.neighbours[middle] < w:
            low = middle + 1
        else:
            high = middle
    return low < rows.offsets[v + 1] and rows.neighbours[low] == w


@_compiled
def _join(rows, work, q, v):
    """Let v join P; return the largest in(o) that this raised outside P."""
    counts, holders = work.counts, work.holders
    inside = counts[v] & _COUNT
    for i in range(1, inside + 1):
        holders[i] -= 1
    amount = np.int64(1)
    if inside < rows.need[v]:
        amount += 1 << _C  # until `_take` finds that v lacks no more
    if _is_neighbour(rows, q, v):
        amount += 1 << _CN
    counts[v] |= _JOINED
    highest = 0
    start, stop = _row(rows, v)
    for i in range(start, stop):
        w = rows.neighbours[i]
        word = counts[w]
        counts[w] = word + amount
        raised = ((word & _COUNT) + 1) & ~(word >> 63)  # 0, which nobody reads, for a member of P
        holders[np.uint64(raised)] += 1
        highest = max(highest, raised)
    return highest


@_compiled
def _take(rows, work, count):
    """Drop from `work.lacking` who lacks no more; return how many are left, and the one with the largest in(v)."""
    counts, lacking = work.counts, work.lacking
    left, taken, most = 0, -1, -1
    for i in range(count):
        v = np.int64(lacking[i])
        inside = counts[v] & _COUNT
        if inside >= rows.need[v]:
            start, stop = _row(rows, v)
            for k in range(start, stop):
                counts[rows.neighbours[k]] -= 1 << _C
            continue
        lacking[left] = v
        left += 1
        if inside > most or (inside == most and v < taken):
            taken, most = v, inside
    return left, taken


@_compiled
def _candidates(rows, work, v):
    """Put v's neighbours outside P into `work.ranked`; only those that are not known yet, if there are any."""
    size, unknown = 0, 0
    start, stop = _row(rows, v)
    for i in range(start, stop):
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


@_compiled
def _bound(rows, work, score, size, highest):
    """Score the candidates from above: no l neighbours can help more than the l largest in(o) of the whole graph do.

    `highest` is the largest in(o) outside P. Each w in `work.ranked` becomes 2w where its score is exact, 2w + 1 where
    it is a bound.
    """
    counts, holders, penalties = work.counts, work.holders, work.penalties
    filled, level, helpers = 0, highest, np.int64(0)
    for i in range(size):
        w = work.ranked[i]
        word = counts[w]
        lacking = max(0, rows.need[w] - (word & _COUNT))
        if score == DEGREE:
            work.scores[i] = _degree(word, lacking)
            work.ranked[i] = 2 * w
            continue
        while filled < lacking:  # extend `penalties` as far as it is asked for
            while level > 0 and holders[level] <= filled:
                level -= 1
            filled += 1
            helpers += level
            penalties[filled] = _penalty(filled, helpers)
        work.scores[i] = _merit(word, rows.offsets[w + 1] - rows.offsets[w]) - penalties[lacking]
        work.ranked[i] = 2 * w + (lacking > 0)


@_compiled
def _choose(rows, work, size, wanted, joined):
    """Append the best `wanted` candidates to the join order, best first.

    The best entry of the heap is next if its score is exact; a bound is replaced by the score and sinks to its place.
    So neighbours are looked through only for candidates that can still be among the best.
    """
    scores, ranked = work.scores, work.ranked
    for i in range(size // 2 - 1, -1, -1):
        _sift_down(scores, ranked, size, i)
    chosen = 0
    while chosen < wanted:
        w = ranked[0] >> 1
        if ranked[0] & 1:
            word = work.counts[w]
            lacking = rows.need[w] - (word & _COUNT)
            helpers = _sum_of_largest(rows, work.counts, work.tally, w, lacking)
            scores[0] = _merit(word, rows.offsets[w + 1] - rows.offsets[w]) - _penalty(lacking, helpers)
            ranked[0] = 2 * w
        else:
            work.order[joined + chosen] = w
            chosen += 1
            size -= 1
            scores[0], ranked[0] = scores[size], ranked[size]
        _sift_down(scores, ranked, size, 0)


@_compiled
def expand(rows, score, q, work):
    """Algorithm 1: put the members of P into `work.order`, in the order in which they join.

    Returns:
        (members of P, 0), or (members so far, m) if the m vertices now in `work.ranked` have to be known first.
    """
    work.order[0] = work.lacking[0] = q
    joined = lacking = np.int64(1)  # the type is spelt out, or numba compiles what these are handed to twice
    unknown = np.int64(0)
    highest = reached = _join(rows, work, q, q)
    while True:
        lacking, v = _take(rows, work, lacking)
        if lacking == 0:
            break
        size, unknown = _candidates(rows, work, v)
        if unknown > 0:
            break
        _bound(rows, work, score, size, highest)
        wanted = rows.need[v] - (work.counts[v] & _COUNT)
        _choose(rows, work, size, wanted, joined)
        for _ in range(wanted):
            w = np.int64(work.order[joined])
            joined += 1
            if work.counts[w] & _COUNT < rows.need[w]:
                work.lacking[lacking] = w
                lacking += 1
            highest = max(highest, _join(rows, work, q, w))
        reached = max(reached, highest)
        while highest > 0 and work.holders[highest] == 0:
            highest -= 1
    for i in range(reached + 1):
        work.holders[i] = 0
    return joined, unknown


# --- Shrink (ALGORITHM.md#shrink)


@njit(nogil=True, cache=True)
def _subgraph(rows, work, joined):
    """Return the graph on P alone, its vertices numbered by join order; set the words of P and its neighbours to 0."""
    order, counts = work.order, work.counts
    total = 0
    for i in range(joined):
        total += counts[order[i]] & _COUNT
    for i in range(joined):
        counts[order[i]] = -1 - i  # a member's number, still negative
    offsets, neighbours, need = np.empty(joined + 1, np.int64), np.empty(total, np.uint32), np.empty(joined, np.int64)
    end = 0
    for i in range(joined):
        v = order[i]
        offsets[i] = end
        need[i] = rows.need[v]
        start, stop = _row(rows, v)
        for k in range(start, stop):
            w = rows.neighbours[k]
            word = counts[w]
            if word < 0:
                neighbours[end] = -1 - word
                end += 1
            else:
                counts[w] = 0
    offsets[joined] = end
    for i in range(joined):
        counts[order[i]] = 0
    return Rows(offsets, neighbours, need)


_GONE = 0
_OPEN = 1
_MUST = 2


@_compiled
def _remove(rows, spare, state, leaving, v):
    """Remove v, then whoever falls below its need, and so on; stop and return False at the first `must` vertex.

    `leaving` logs who was removed, `spare[w]` is deg(w, S) - need(w). On failure both are put back as they were.
    """
    leaving[0] = v
    state[v] = _GONE
    left, done = np.int64(1), np.int64(0)
    while done < left:
        u = leaving[done]
        start, stop = _row(rows, u)
        for i in range(start, stop):
            w = rows.neighbours[i]
            spare[w] -= 1
            if spare[w] >= 0 or state[w] == _GONE:
                continue
            if state[w] == _MUST:
                _undo(rows, spare, state, leaving, left, done, i)
                return False
            state[w] = _GONE
            leaving[left] = w
            left += 1
        done += 1
    return True


@_compiled
def _undo(rows, spare, state, leaving, left, done, last):
    """Undo `_remove`, which took from the neighbours of the first `done`, and of the next one up to entry `last`."""
    for k in range(left):
        u = leaving[k]
        state[u] = _OPEN
        if k <= done:
            start, stop = _row(rows, u)
            for i in range(start, stop if k < done else last + np.uint64(1)):
                spare[rows.neighbours[i]] += 1


@njit(nogil=True, cache=True)
def _shrink(rows):
    """Algorithm 2 on a p-cohesion whose vertices are numbered by join order, vertex 0 the queried one.

    Returns:
        uint8, one for each vertex; `_GONE` for those that are not in the minimal p-cohesion.
    """
    count = len(rows.need)
    state, leaving, spare = np.empty(count, np.uint8), np.empty(count, np.int64), np.empty(count, np.int64)
    for v in range(count):
        state[v] = _OPEN if v > 0 else _MUST
        spare[v] = rows.offsets[v + 1] - rows.offsets[v] - rows.need[v]
    for v in range(count - 1, 0, -1):
        if state[v] == _OPEN and not _remove(rows, spare, state, leaving, v):
            state[v] = _MUST
    return state


# --- Many queries


@_compiled
def _forget(rows, work, joined):
    """Set the words of P and of its neighbours to zero."""
    for i in range(joined):
        v = work.order[i]
        work.counts[v] = 0
        start, stop = _row(rows, v)
        for k in range(start, stop):
            work.counts[rows.neighbours[k]] = 0


@njit(nogil=True, cache=True)
def minimal_cohesions(rows, score, queries, work):
    """Minimal p-cohesions of the queried vertices, one after another.

    Args:
        rows: the graph, a `Rows`.
        score: DENSITY or DEGREE.
        queries: int64, vertices whose neighbours are known.
        work: a `Workspace` for this graph, used by nobody else meanwhile.

    Returns:
        ends: int64, one for each cohesion found; the i-th is `members[ends[i - 1]:ends[i]]`, from 0 for the first.
        members: uint32, in join order, the queried vertex first.
        missing: int64; if not empty, the query after the last one found needs the neighbours of these vertices; its
            members so far then follow those of the cohesions found.
    """
    ends = np.empty(len(queries), np.int64)
    members = np.empty(16 * len(queries), np.uint32)
    filled = 0
    for i in range(len(queries)):
        joined, unknown = expand(rows, score, queries[i], work)
        if unknown > 0:
            _forget(rows, work, joined)
            so_far = np.concatenate((members[:filled], work.order[:joined]))
            return ends[:i], so_far, work.ranked[:unknown].copy()
        state = _shrink(_subgraph(rows, work, joined))
        if filled + joined > len(members):
            grown = np.empty(2 * (filled + joined), np.uint32)
            for k in range(filled):
                grown[k] = members[k]
            members = grown
        for k in range(joined):
            if state[k] != _GONE:
                members[filled] = work.order[k]
                filled += 1
        ends[i] = filled
    return ends, members[:filled], np.empty(0, np.int64)
