"""Minimal p-cohesions on arrays: the paper's Algorithms 1 and 2 (ALGORITHM.md#expand, ALGORITHM.md#shrink).

Needs are integers; p is not known here. A search that comes to score a vertex whose row is not known stops, names what
it lacks, and goes on from there once that is known: so the same kernel serves a graph that is still being fetched.

**What takes the time** is Σ, for which a candidate's whole row is looked through: the sum of the l largest in(o) over
its neighbours o outside P. Most candidates are not among the best, and a bound on Σ shows it. For every t >= 0

    Σ <= l·t + Σ_o max(in(o) - t, 0)

because each of the l largest is at most t + max(in(o) - t, 0), and the others add nothing negative. Where t is the l-th
largest itself the two sides are equal: all that are above it are among the l, and all of the l reach it. The number of
in(o) >= t shows on which side of the l-th largest t lies. So bisection over t, with a pass over the row at each step,
tightens a bound to Σ, and stops as soon as the bound is too low for the candidate to be chosen.

Two bounds need no pass. Σ is at most l times the largest in(o) outside P. And if Σ <= S held after j vertices had
joined, Σ <= S + l·(i - j) holds after i: a join raises no in(o) by more than 1, l does not grow, and an o that joins is
no longer added. (S = 0 after j = 0 is true of every vertex.)

**No tolerance is needed.** A bound on the score is computed from the bound on Σ as the score is from Σ. Division and
subtraction of doubles are monotone, rounding included, so it is never below the score; and a candidate is dropped only
if its bound, ties by identifier included, comes after the worst of the b that would be chosen without it.

**Widths.** `inside` is read more than anything else. If no count can reach 2^14 it has 16 bits, `helped` 32; else 32
and 64. Either way the compiler turns the passes into vector instructions.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pcneo.kernels.instructions import fetch

DENSITY = 0
DEGREE = 1

DEGREE_BITS = 21
MAX_DEGREE = (1 << DEGREE_BITS) - 1
NARROW = 1 << 14  # counts of 16 bits stay below this: a member's, less 2^14 and less t, must not wrap around

_LINE = 16  # neighbours that the processor fetches from memory at once
_AHEAD = 12  # rows that are fetched before they are looked through

# Functions that only read and write the arrays they are given need no reference counts, whose upkeep costs a tenth.
_OPTIONS: dict[str, Any] = {"nogil": True, "cache": True, "_nrt": False, "error_model": "numpy"}
_compiled = njit(**_OPTIONS)
_inlined = njit(inline="always", **_OPTIONS)  # by numba, before types are inferred: a third less time to compile


class Rows(NamedTuple):
    """The graph as the kernels take it, with one word per vertex for all that is looked up together.

    Attributes:
        places: int64, n; where the row of a vertex begins << 21 | its degree, or -1 where its row is not known.
        neighbours: uint32; the rows, each in any order.
        needs: int64, by degree.
        ranks: int64, n; of two vertices whose rows are known, the one with the smaller identifier has the smaller rank.
    """

    places: NDArray[np.int64]
    neighbours: NDArray[np.uint32]
    needs: NDArray[np.int64]
    ranks: NDArray[np.int64]


def degrees_of(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the degrees of vertices from their entries in `Rows.places`; their rows must be known."""
    return places & MAX_DEGREE


def places_of(starts: NDArray[np.int64], degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the entries of `Rows.places` for known rows that begin at `starts`."""
    return starts << DEGREE_BITS | degrees


class Workspace(NamedTuple):
    """Memory of one thread, used for one query after another; between queries the first five are zero.

    Attributes:
        inside: int16 or int32, n; in(v), less 2^14 or 2^30 for a member of P. While P shrinks: in(v) less what v needs.
        helped: uint32 or uint64, n; c in the upper half, cn in the lower one.
        sums: uint64, n; a bound on Σ in the lower half; in the upper half, how many had joined when it was found.
        marks: uint8, n; 1 for the neighbours of q. While P shrinks: `_GONE`, `_OPEN` or `_MUST`.
        reached: int64; for an expansion that lacks rows: how many have joined, how many of them are in `lacking`, and
            the largest in(v) so far.
        order: uint32, n; the members of P in join order.
        lacking: uint32, n; the members of P that lack neighbours. While P shrinks: the vertices that leave.
        enough: as `inside`, n; for each member in `lacking`, the value of `inside` that meets its need.
        candidates, merits, lacks, bounds: uint32, float64, int64, int64; for each candidate, the vertex and, if it
            lacks neighbours, its merit, how many it lacks, and a bound on Σ, or 0 once it has been scored.
        scores, chosen: float64, uint32; the heap of vertices to join, the worst on top.
        guesses, likely: float64, uint32; the same for places in `candidates` that are to be scored.
        row: as `inside`; one row of it, followed by zeros.
        stop: uint8, 1; not 0 when the search must end without an answer.
    """

    inside: NDArray[np.int16 | np.int32]
    helped: NDArray[np.uint32 | np.uint64]
    sums: NDArray[np.uint64]
    marks: NDArray[np.uint8]
    reached: NDArray[np.int64]
    order: NDArray[np.uint32]
    lacking: NDArray[np.uint32]
    enough: NDArray[np.int16 | np.int32]
    candidates: NDArray[np.uint32]
    merits: NDArray[np.float64]
    lacks: NDArray[np.int64]
    bounds: NDArray[np.int64]
    scores: NDArray[np.float64]
    chosen: NDArray[np.uint32]
    guesses: NDArray[np.float64]
    likely: NDArray[np.uint32]
    row: NDArray[np.int16 | np.int32]
    stop: NDArray[np.uint8]


def workspace(vertex_count: int, max_degree: int) -> Workspace:
    """Return a fresh workspace for a graph of this many vertices, none of which is in more than `max_degree` rows."""
    n, most = vertex_count, max_degree + 1
    count, pair = (np.int16, np.uint32) if max_degree < NARROW else (np.int32, np.uint64)
    return Workspace(
        inside=np.zeros(n, count),
        helped=np.zeros(n, pair),
        sums=np.zeros(n, np.uint64),
        marks=np.zeros(n, np.uint8),
        reached=np.zeros(3, np.int64),
        order=np.zeros(n, np.uint32),
        lacking=np.zeros(n, np.uint32),
        enough=np.zeros(n, count),
        candidates=np.zeros(most, np.uint32),
        merits=np.zeros(most, np.float64),
        lacks=np.zeros(most, np.int64),
        bounds=np.zeros(most, np.int64),
        scores=np.zeros(most, np.float64),
        chosen=np.zeros(most, np.uint32),
        guesses=np.zeros(most, np.float64),
        likely=np.zeros(most, np.uint32),
        row=np.zeros(most + _PAD, count),
        stop=np.zeros(1, np.uint8),
    )


def has_room(work: Workspace, vertex_count: int, max_degree: int) -> bool:
    """Whether a workspace is large enough for a graph that has grown to this size."""
    return vertex_count <= len(work.inside) and max_degree < len(work.candidates)


def counts_inside(work: Workspace, vertices: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return in(v) for some vertices in an expansion that lacks rows, and whether they are members."""
    inside = work.inside[vertices]
    joined = inside < 0
    inside[joined] += 1 << (8 * inside.itemsize - 2)
    return inside, joined


def enlarged(work: Workspace, vertex_count: int, max_degree: int) -> Workspace:
    """Return a larger workspace in which the query of `work` goes on, or begins again if counts need more bits."""
    larger = workspace(vertex_count, max_degree)
    if larger.inside.dtype == work.inside.dtype:
        for new, old in zip(larger, work, strict=True):
            new[: len(old)] = old
    return larger


@_inlined
def _row(rows, v):
    """Where v's neighbours begin and end; unsigned, because a signed index is tested for its sign at every access."""
    place = rows.places[v]
    start = np.uint64(place >> DEGREE_BITS)
    return start, start + np.uint64(place & MAX_DEGREE)


@_inlined
def _need(rows, v):
    return rows.needs[rows.places[v] & MAX_DEGREE]


@_inlined
def _fetch_row(rows, v):
    """Have the processor fetch the first part of v's row, which will soon be looked through."""
    start, stop = _row(rows, v)
    for ahead in range(np.uint64(0), np.uint64(3 * _LINE), np.uint64(_LINE)):
        fetch(rows.neighbours, min(start + ahead, stop))


@_inlined
def _away(inside):
    """What is taken from in(v) when v joins P, and added to what v has to spare when it leaves."""
    return 1 << (8 * inside.itemsize - 2)


@_inlined
def _half(helped):
    """The number of bits of half a word."""
    return np.uint64(4 * helped.itemsize)


# --- The scores (ALGORITHM.md#scores)


@_inlined
def _merit(inside, common, helps, degree):
    """Equation 8: in * cn * c / degree^3, with one division."""
    return np.float64(inside * common * helps) / np.float64(degree * degree * degree)


@_inlined
def _penalty(lacking, helpers):
    """Equation 9: l = `lacking` over Σ = `helpers`; it shrinks as Σ grows."""
    return np.float64(lacking) / np.float64(max(1, helpers))


@_inlined
def _degree(helps, lacking):
    """Members of P that w helps, less the neighbours it lacks itself."""
    return np.float64(helps - lacking)


# --- A heap that keeps the best so far, the worst of them on top; ties go to the smaller identifier


@_inlined
def _precedes(ranks, score, vertex, other_score, other_vertex):
    return score > other_score or (score == other_score and ranks[vertex] < ranks[other_vertex])


@_compiled
def _sift_down(ranks, scores, kept, size, score, vertex):
    """Put an entry in place of the top one of the first `size`, and restore their heap."""
    i = 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and _precedes(ranks, scores[child], kept[child], scores[child + 1], kept[child + 1]):
            child += 1
        if not _precedes(ranks, score, vertex, scores[child], kept[child]):
            break
        scores[i], kept[i] = scores[child], kept[child]
        i = child
    scores[i], kept[i] = score, vertex


@_compiled
def _keep(ranks, scores, kept, size, most, score, vertex):
    """Add an entry to a heap of `size`, or drop the worst where it would have more than `most`; return its size."""
    if size < most:
        i = size
        while i > 0:
            parent = (i - 1) >> 1
            if not _precedes(ranks, scores[parent], kept[parent], score, vertex):
                break
            scores[i], kept[i] = scores[parent], kept[parent]
            i = parent
        scores[i], kept[i] = score, vertex
        return size + 1
    if _precedes(ranks, score, vertex, scores[0], kept[0]):
        _sift_down(ranks, scores, kept, size, score, vertex)
    return size


# --- Expand (ALGORITHM.md#expand)


@_inlined
def _join(rows, work, v, lacking, highest):
    """Let v join P; return how many members are listed as lacking neighbours, and the largest in(o) so far."""
    inside, helped = work.inside, work.helped
    has, need = np.int64(inside[v]), _need(rows, v)
    inside[v] = has - _away(inside)
    amount = np.uint64(work.marks[v])
    if has < need:
        amount += np.uint64(1) << _half(helped)  # until `_take` finds that v no longer lacks any
        work.lacking[lacking] = v
        work.enough[lacking] = need - _away(inside)
        lacking += 1
    start, stop = _row(rows, v)
    for i in range(start, stop):
        w = rows.neighbours[i]
        raised = np.int64(inside[w]) + 1
        inside[w] = raised
        highest = max(highest, raised)
    if amount > 0:
        for i in range(start, stop):
            w = rows.neighbours[i]
            helped[w] = np.uint64(helped[w]) + amount
    return lacking, highest


@_inlined
def _take(rows, work, count):
    """Drop from `work.lacking` those that lack none now; return how many are left and which has the largest in(v)."""
    inside, helped, lacking, enough = work.inside, work.helped, work.lacking, work.enough
    left, taken, most = np.int64(0), np.uint32(0), np.int64(-2 * _away(inside))
    for i in range(count):
        v, has, wanted = lacking[i], np.int64(inside[lacking[i]]), enough[i]
        if has >= wanted:
            start, stop = _row(rows, v)
            for k in range(start, stop):
                w = rows.neighbours[k]
                helped[w] = np.uint64(helped[w]) - (np.uint64(1) << _half(helped))
            continue
        lacking[left], enough[left] = v, wanted
        left += 1
        if has > most or (has == most and rows.ranks[v] < rows.ranks[taken]):
            taken, most = v, has
    return left, taken


@_inlined
def _candidates(rows, work, v):
    """Put v's neighbours outside P into `work.candidates` and return how many there are."""
    inside, candidates, size = work.inside, work.candidates, np.uint64(0)
    start, stop = _row(rows, v)
    for i in range(start, stop):
        w = rows.neighbours[i]
        candidates[size] = w
        size += np.uint64(inside[w] >= 0)
    return size


@_inlined
def _unknown(rows, candidates, size):
    """Keep only the candidates whose rows are not known; return how many there are."""
    unknown = np.int64(0)
    for i in range(size):
        w = candidates[i]
        if rows.places[w] < 0:
            candidates[unknown] = w
            unknown += 1
    return unknown


@_inlined
def _weigh(rows, work, score, size, wanted, joined, highest):
    """Score the candidates that need no Σ; for the others bound it, and list them with a guess of their score.

    Returns:
        How many are in the heap, and how many are listed; -1 if the row of a candidate is not known.
    """
    sums, bounds, half = work.sums, work.bounds, _half(work.helped)
    filled = listed = np.int64(0)
    for i in range(size):
        w = work.candidates[i]
        place = rows.places[w]
        if place < 0:
            return filled, np.int64(-1)
        degree, inside, helped = place & MAX_DEGREE, np.int64(work.inside[w]), np.uint64(work.helped[w])
        lacking = max(0, rows.needs[degree] - inside)
        helps, common = np.int64(helped >> half), np.int64(helped & ((np.uint64(1) << half) - np.uint64(1)))
        exact = _degree(helps, lacking) if score == DEGREE else _merit(inside, common, helps, degree)
        if score == DEGREE or lacking == 0:
            bounds[i] = 0
            filled = _keep(rows.ranks, work.scores, work.chosen, filled, wanted, exact, w)
            continue
        then, linked = np.int64(sums[w] >> np.uint64(32)), np.int64(sums[w] & np.uint64(0xFFFFFFFF))
        work.merits[i], work.lacks[i] = exact, lacking
        bounds[i] = max(1, min(lacking * highest, linked + lacking * (joined - then)))
        work.guesses[listed], work.likely[listed] = exact - _penalty(lacking, linked), i
        listed += 1
    return filled, listed


@_inlined
def _most_likely(ranks, guesses, likely, listed, room):
    """Leave on the list the `room` candidates with the best guesses."""
    kept = np.int64(0)
    for i in range(listed):
        kept = _keep(ranks, guesses, likely, kept, room, guesses[i], likely[i])
    return kept


@_inlined
def _contenders(work, size):
    """List the candidates not scored yet whose bounds reach the worst score in the heap."""
    merits, lacks, bounds, likely, worst, listed = work.merits, work.lacks, work.bounds, work.likely, work.scores[0], 0
    for i in range(size):
        likely[listed] = i
        listed += bounds[i] > 0 and merits[i] - _penalty(lacks[i], bounds[i]) >= worst
    return listed


_PAD = 32  # rows are gathered in multiples of this, as vector instructions take them


@_inlined
def _gather(rows, inside, row, w):
    """Copy `inside` of w's neighbours to `row`; return how many that is, rounded up with zeros."""
    start, stop = _row(rows, w)
    size = stop - start
    for i in range(size):
        row[i] = inside[rows.neighbours[start + i]]
    padded = (size + np.uint64(_PAD - 1)) & ~np.uint64(_PAD - 1)
    for i in range(size, padded):
        row[i] = 0
    return padded


@_inlined
def _above(row, size, t, sums):
    """Σ_o max(in(o) - t, 0) over a row, and how many in(o) are t or more; a member's is below any t.

    Every operation has the width of its array; otherwise it would not become a vector instruction. Zeros that follow
    the row count only for t = 0, where the number does not matter.
    """
    count, total = row.dtype.type, sums.dtype.type
    t = count(t)
    excess = reached = total(0)
    for i in range(size):
        excess = total(excess + total(max(count(row[i] - t), count(0))))
        reached = total(reached + total(row[i] >= t))
    return np.int64(excess), np.int64(reached)


@_inlined
def _score(rows, work, listed, filled, wanted, joined):
    """Score the listed candidates as exactly as it takes to know which are chosen; return the size of the heap."""
    ranks, scores, chosen, candidates, likely = rows.ranks, work.scores, work.chosen, work.candidates, work.likely
    for r in range(min(listed, _AHEAD)):
        _fetch_row(rows, candidates[likely[r]])
    for r in range(listed):
        if r + _AHEAD < listed:
            _fetch_row(rows, candidates[likely[r + _AHEAD]])
        i = likely[r]
        w, merit, lacking, bound = candidates[i], work.merits[i], work.lacks[i], work.bounds[i]
        score = merit - _penalty(lacking, bound)
        full = filled == wanted
        if full and not _precedes(ranks, score, w, scores[0], chosen[0]):
            continue
        size = _gather(rows, work.inside, work.row, w)
        low, high = -1, bound // lacking + 1  # the l-th largest is at least low and less than high
        t = high >> 1
        if full:  # half the mean in(o) that Σ would need for this candidate to be chosen
            t = min(high - 1, np.int64(0.5 / (merit - scores[0])))
        while high - low > 1:
            excess, reached = _above(work.row, size, t, work.helped)
            bound = min(bound, lacking * t + excess)
            score = merit - _penalty(lacking, bound)
            if reached == lacking or (full and not _precedes(ranks, score, w, scores[0], chosen[0])):
                break
            if reached > lacking:
                low = t
            else:
                high = t
            high = min(high, bound // lacking + 1)
            t = (low + high) >> 1
        if bound < 1 << 32:
            work.sums[w] = np.uint64(joined) << np.uint64(32) | np.uint64(bound)
        work.bounds[i] = 0
        filled = _keep(ranks, scores, chosen, filled, wanted, score, w)
    return filled


@_inlined
def _choose(rows, work, size, filled, listed, wanted, joined):
    """Put the `wanted` best of the weighed candidates into `work.order`, after those that have joined, best first.

    The likely ones are scored first: the better the heap is, the more of the others are refused by their bounds.
    """
    scores, chosen = work.scores, work.chosen
    if filled < wanted:
        listed = _most_likely(rows.ranks, work.guesses, work.likely, listed, wanted - filled)
    for turn in range(2):
        if turn == 1 or filled == wanted:
            listed = _contenders(work, size)
        filled = _score(rows, work, listed, filled, wanted, joined)
    for k in range(wanted - 1, -1, -1):
        work.order[joined + k] = chosen[0]
        _sift_down(rows.ranks, scores, chosen, k, scores[k], chosen[k])


@_compiled
def expand(rows, score, q, work):
    """Algorithm 1: put the members of P into `work.order`, in the order in which they join.

    An expansion that lacks rows stops before it chooses vertices to add, with all that it knows in `work`. Called
    again, it goes on from there.

    Returns:
        (members of P, 0), or (members so far, m) if the m vertices now in `work.candidates` have to be known first;
        (members so far, -1) if the search was stopped.
    """
    joined, lacking, highest = work.reached[0], work.reached[1], work.reached[2]
    wanted, unknown = np.int64(0), np.int64(0)  # types are spelt out, or numba would compile what takes them twice
    if joined == 0:
        for i in range(*_row(rows, q)):
            work.marks[rows.neighbours[i]] = 1
        work.order[0] = q
        wanted = np.int64(1)
    while True:
        for k in range(joined, joined + wanted):
            if k + 1 < joined + wanted:
                _fetch_row(rows, work.order[k + 1])
            lacking, highest = _join(rows, work, work.order[k], lacking, highest)
        joined += wanted
        lacking, v = _take(rows, work, lacking)
        if lacking == 0:
            break
        if work.stop[0] > 0:
            return joined, np.int64(-1)
        wanted = _need(rows, v) - (work.inside[v] + _away(work.inside))
        size = _candidates(rows, work, v)
        filled, listed = _weigh(rows, work, score, size, wanted, joined, highest)
        if listed < 0:
            unknown = _unknown(rows, work.candidates, size)
            work.reached[0], work.reached[1], work.reached[2] = joined, lacking, highest
            return joined, unknown
        _choose(rows, work, size, filled, listed, wanted, joined)
    for i in range(*_row(rows, q)):
        work.marks[rows.neighbours[i]] = 0
    work.reached[:] = 0
    return joined, unknown


# --- Shrink (ALGORITHM.md#shrink)

_GONE = 0
_OPEN = 1
_MUST = 2


@_inlined
def _remove(rows, work, v):
    """Remove v, then members that fall below their needs, and so on; stop and return False at the first `must` vertex.

    `work.lacking` logs the removed vertices; `work.inside` has what members have to spare. So much is added to it for a
    removed vertex that it cannot fall below 0 again. Nor can it for one that was never a member: it loses what it got.
    """
    spare, state, leaving = work.inside, work.marks, work.lacking
    leaving[0] = v
    state[v] = _GONE
    spare[v] += _away(spare)
    left, done = np.int64(1), np.int64(0)
    while done < left:
        start, stop = _row(rows, leaving[done])
        for i in range(start, stop):
            w = rows.neighbours[i]
            rest = np.int64(spare[w]) - 1
            spare[w] = rest
            if rest >= 0:
                continue
            if state[w] == _MUST:
                _undo(rows, work, left, done, i)
                return False
            state[w] = _GONE
            spare[w] = rest + _away(spare)
            leaving[left] = w
            left += 1
        done += 1
    return True


@_inlined
def _undo(rows, work, left, done, last):
    """Undo `_remove`, which took from the neighbours of the first `done`, and of the next one up to entry `last`."""
    spare, state, leaving = work.inside, work.marks, work.lacking
    for k in range(left):
        u = leaving[k]
        state[u] = _OPEN
        spare[u] -= _away(spare)
        if k <= done:
            start, stop = _row(rows, u)
            for i in range(start, stop if k < done else last + np.uint64(1)):
                spare[rows.neighbours[i]] += 1


@_compiled
def _shrink(rows, work, joined):
    """Algorithm 2: those members of P whose mark is not `_GONE` are left, a minimal p-cohesion around the first."""
    order, spare, state = work.order, work.inside, work.marks
    for i in range(joined):
        v = order[i]
        state[v] = _OPEN if i > 0 else _MUST
        spare[v] += _away(spare) - _need(rows, v)
    for i in range(joined - 1, 0, -1):
        v = order[i]
        if state[v] == _OPEN and not _remove(rows, work, v):
            state[v] = _MUST


# --- Many queries


_SHARE = 4  # if the rows of P have more than a fourth of n entries, writing zeros for all n is quicker


@_compiled
def _clear(work):
    """Set to zero what is known of every vertex, except its mark."""
    inside, helped, sums = work.inside, work.helped, work.sums
    for v in range(len(inside)):
        inside[v] = 0
    for v in range(len(helped)):
        helped[v] = 0
    for v in range(len(sums)):
        sums[v] = 0


@_inlined
def _forget(rows, work, joined):
    """Set to zero what is known of P and its neighbours; leave in `work.order` what stayed, and return how many."""
    left = entries = np.int64(0)
    for i in range(joined):
        entries += rows.places[work.order[i]] & MAX_DEGREE
    everywhere = _SHARE * entries > len(work.inside)
    if everywhere:
        _clear(work)
    for i in range(joined):
        v = work.order[i]
        work.order[left] = v
        left += np.int64(work.marks[v] != _GONE)
        work.marks[v] = 0
        if everywhere:
            continue
        work.inside[v] = work.helped[v] = work.sums[v] = 0
        start, stop = _row(rows, v)
        for k in range(start, stop):
            w = rows.neighbours[k]
            work.inside[w] = work.helped[w] = work.sums[w] = 0
    return left


@_compiled
def _search(rows, score, queries, work, ends, members, done, filled):
    """Search one query after another, starting with number `done`, until an answer does not fit or lacks rows.

    Returns:
        The queries done, the members written; then, for the query after them, how many members in `work.order` did
        not fit, or how many vertices in `work.candidates` are not known: 0 and 0 if all queries are done, or the search
        was stopped.
    """
    for i in range(done, len(queries)):
        joined, unknown = expand(rows, score, np.uint32(queries[i]), work)
        if unknown != 0:
            return i, filled, np.int64(0), max(unknown, np.int64(0))
        _shrink(rows, work, joined)
        left = _forget(rows, work, joined)
        if filled + left > len(members):
            return i, filled, left, unknown
        for k in range(left):
            members[filled + k] = work.order[k]
        filled += left
        ends[i] = filled
    return np.int64(len(queries)), filled, np.int64(0), np.int64(0)


def minimal_cohesions(
    rows: Rows, score: int, queries: NDArray[np.int64], work: Workspace
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]:
    """Return minimal p-cohesions of the queried vertices, one after another.

    Args:
        rows: the graph.
        score: DENSITY or DEGREE.
        queries: int64, vertices whose neighbours are known.
        work: a workspace for this graph; no other thread may use it meanwhile.

    Returns:
        ends: int64, one for each cohesion found (fewer than queries where `work.stop` was set); the i-th is
            `members[ends[i - 1]:ends[i]]`, from 0 for the first.
        members: uint32, in join order, the queried vertex first.
        missing: uint32; if not empty, the query after the last one found needs the neighbours of these vertices. How
            far it came is in `work`: called with that query first, it goes on from there.
    """
    ends, members = np.empty(len(queries), np.int64), np.empty(16 * len(queries), np.uint32)
    done = filled = 0
    while True:
        done, filled, left, unknown = _search(rows, score, queries, work, ends, members, done, filled)
        if left == 0:
            return ends[:done], members[:filled], work.candidates[:unknown].copy()
        members = np.concatenate((members[:filled], work.order[:left], np.empty(filled + left, np.uint32)))
        filled += left
        ends[done] = filled
        done += 1
