"""The search `smallest` on arrays (ALGORITHM.md#smallest): small sets are listed, larger ones improved.

Needs are integers; p is not known here. Every budget counts entries of rows that are read, or turns, never time. Ties
go to the smaller identifier, and lots are drawn in the order of identifiers among the vertices considered: an answer
depends neither on how vertices are numbered nor on how much of the graph is known. Where a row is needed that is
not known, the search goes on as far as that makes sense, lists what is missing, and begins again once that is there.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pcneo.kernels.cohesion import DEGREE_BITS, MAX_DEGREE, Workspace

LARGEST_LISTED = 8
"""Members of the largest sets that are listed: the bits of a byte show which members a vertex is adjacent to."""

_LISTING_READS = 30_000  # entries of rows
_GROWTH_READS = 1_000_000
_GROWN = 20  # times the size of the best set so far: a set that grows beyond this is given up
_STARTS = 8  # for each unit of effort, at most
_START_READS = 80_000  # in growing sets: no further start is made after more than this for each unit of effort
_BESIDE = 128  # vertices outside a set that may take the place of members; beside a larger set, as many as its members
_ROUNDS = 8
_PHASES = 3  # of swaps
_SWAPS = 256  # a phase
_LARGE = 1_000  # members: larger sets are neither grown nor swapped, and are improved in fewer rounds
_LARGE_ROUNDS = 2

_OPTIONS: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy"}
_INNER: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_LEAN: dict[str, Any] = {**_INNER, "_nrt": False}  # for functions that make no arrays
_called_from_python = njit(**_OPTIONS)
_compiled = njit(**_INNER)
_lean = njit(**_LEAN)


class Memory(NamedTuple):
    """Memory of one thread, as large as the graph; between searches the first two are zero.

    Attributes:
        counts: int64, n.
        flags: uint8, n.
        missing: uint32, n; vertices whose rows must be known first.
        stop: uint8, 1; not 0 when the search must end without an answer.
    """

    counts: NDArray[np.int64]
    flags: NDArray[np.uint8]
    missing: NDArray[np.uint32]
    stop: NDArray[np.uint8]


def memory_of(work: Workspace) -> Memory:
    """Return arrays of a workspace, which must not be used otherwise meanwhile."""
    return Memory(work.sums.view(np.int64), work.marks, work.lacking, work.stop)


@_lean
def _row(rows, v):
    """Where v's neighbours begin and end; unsigned, because a signed index is tested for its sign at every access."""
    place = rows.places[v]
    start = np.uint64(place >> DEGREE_BITS)
    return start, start + np.uint64(place & MAX_DEGREE)


@_lean
def _degree(rows, v):
    return rows.places[v] & MAX_DEGREE


@_lean
def _need(rows, v):
    return rows.needs[rows.places[v] & MAX_DEGREE]


@_lean
def _lot(start, turn, i):
    """The i-th lot of a turn of a start, 63 bits: what SplitMix64 makes of the three numbers."""
    x = (np.uint64(start) << np.uint64(48)) + (np.uint64(turn) << np.uint64(32)) + np.uint64(i) + np.uint64(1)
    x *= np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((x ^ (x >> np.uint64(31))) >> np.uint64(1))


# int64, since numba compiles a function again for a number that is written out.
_FIRST = np.int64(0)  # start or turn
_GROWING = np.int64(1 << 12)  # the turn of the lots by which a set grows; the next one is that of swaps


@_compiled
def _by_identifier(rows, vertices):
    """The places of vertices in the order of their identifiers."""
    ranks = np.empty(len(vertices), np.int64)
    for i in range(len(vertices)):
        ranks[i] = rows.ranks[vertices[i]]
    return np.argsort(ranks)


# --- The rank (ALGORITHM.md#the-rank)

_NEAR = 1 << 40  # in `counts`, added to what is there: a neighbour of the current vertex
_INSIDE = 1 << 41  # a member


@_lean
def _add(rows, v, counts, amount):
    """Add to the counts of v's neighbours."""
    for i in range(*_row(rows, v)):
        counts[rows.neighbours[i]] += amount


@_lean
def _edges_inside(rows, members, counts):
    edges = 0
    for v in members:
        counts[v] += _INSIDE
    for v in members:
        for i in range(*_row(rows, v)):
            edges += (counts[rows.neighbours[i]] & _INSIDE) != 0
    for v in members:
        counts[v] -= _INSIDE
    return edges >> 1


@_lean
def _closeness(rows, members, counts):
    """The sum, over the edges inside, of floor(2^32 * common neighbours / vertices adjacent to either end)."""
    total = 0
    for v in members:
        counts[v] += _INSIDE
    for a in members:
        _add(rows, a, counts, _NEAR)
        degree = _degree(rows, a)
        for i in range(*_row(rows, a)):
            b = rows.neighbours[i]
            # The shorter of the two rows is looked through: that of a star's centre, for each leaf, would take minutes.
            if counts[b] & _INSIDE and (_degree(rows, b) < degree or (_degree(rows, b) == degree and b < a)):
                common = 0
                for k in range(*_row(rows, b)):
                    common += (counts[rows.neighbours[k]] & _NEAR) != 0
                total += (common << 32) // (degree + _degree(rows, b) - common)
        _add(rows, a, counts, -_NEAR)
    for v in members:
        counts[v] -= _INSIDE
    return total


@_lean
def _smallest_missing(rows, members, others, counts):
    """The smallest identifier, as a rank, among the members that are not in the other set."""
    smallest = np.int64(0x7FFFFFFFFFFFFFFF)
    for v in others:
        counts[v] += _INSIDE
    for v in members:
        if not counts[v] & _INSIDE:
            smallest = min(smallest, rows.ranks[v])
    for v in others:
        counts[v] -= _INSIDE
    return smallest


@_lean
def _outranks(rows, members, edges, others, value, counts):
    """Whether a set with `edges` edges inside has a better rank than another one, whose value it then replaces.

    `value`, int64, (2,), holds the other's edges, and its closeness, or -1 if that has not been needed yet. In `counts`
    the two bits used here must be free.
    """
    closeness = np.int64(-1)
    better = len(members) < len(others) or (len(members) == len(others) and edges > value[0])
    if len(members) == len(others) and edges == value[0]:
        if value[1] < 0:
            value[1] = _closeness(rows, others, counts)
        closeness = _closeness(rows, members, counts)
        better = closeness > value[1]
        if closeness == value[1]:
            own = _smallest_missing(rows, members, others, counts)
            better = own < _smallest_missing(rows, others, members, counts)
    if better:
        value[0], value[1] = edges, closeness
    return better


@_compiled
def _value(rows, members, counts):
    value = np.empty(2, np.int64)
    value[0], value[1] = _edges_inside(rows, members, counts), -1
    return value


# --- Small sets (ALGORITHM.md#small-sets)

_FREE = 0
_MEMBER = 1
_TRIED = 2
_UNKNOWN = 3


@_lean
def _ones(byte):
    """How many bits of a byte are set."""
    x = np.int64(byte)
    x = (x & 0x55) + ((x >> 1) & 0x55)
    x = (x & 0x33) + ((x >> 2) & 0x33)
    return (x & 0x0F) + (x >> 4)


@_lean
def _lacks(rows, v, flags):
    return _need(rows, v) - _ones(flags[v])


@_lean
def _neediest(rows, members, size, flags):
    """The member that lacks most, ties to the smaller degree, then to the first to join; and how many it lacks."""
    neediest, most = members[0], 0
    for i in range(size):
        v = members[i]
        lacks = _lacks(rows, v, flags)
        if lacks > most or (lacks == most > 0 and _degree(rows, v) < _degree(rows, neediest)):
            neediest, most = v, lacks
    return neediest, most


@_lean
def _most_edges(edges, size, room):
    """The most edges that can be inside once `room` more have joined."""
    return edges + room * size + room * (room - 1) // 2


@_lean
def _push(rows, stack, first, last, w, flags):
    """Put w among the entries first..last-1 of the stack: more neighbours inside first, ties by identifier."""
    inside = _ones(flags[w])
    while last > first:
        u = stack[last - 1]
        other = _ones(flags[u])
        if other > inside or (other == inside and rows.ranks[u] < rows.ranks[w]):
            break
        stack[last] = u
        last -= 1
    stack[last] = w


@_lean
def _branches(rows, v, members, size, room, least, memory, stack, top, unknown):
    """Push those neighbours of v that may join and have at least `least` neighbours inside; note those not known.

    Returns:
        The top of the stack, and how many are in `memory.missing`.
    """
    taken, flags, begin, full = memory.counts, memory.flags, top, 0
    for i in range(size):
        if _lacks(rows, members[i], flags) == room:
            full |= 1 << i
    for i in range(*_row(rows, v)):
        w = rows.neighbours[i]
        if taken[w] != _FREE:
            continue
        if rows.places[w] < 0:
            taken[w] = _UNKNOWN
            memory.missing[unknown] = w
            unknown += 1
        elif (
            _need(rows, w) < size + room
            and _lacks(rows, w, flags) < room
            and _ones(flags[w]) >= least
            and (np.int64(flags[w]) & full) == full
        ):
            _push(rows, stack, begin, top, w, flags)
            top += 1
    return top, unknown


@_compiled
def _list_sets(rows, q, limit, reads, memory, members, stack, best, unknown):
    """List the p-cohesions of at most `limit` members around q, and put the best one into `best`.

    Returns:
        Its size, or 0; the reads that are left, below 0 if not all were listed; how many are in `memory.missing`.
    """
    taken, flags, value = memory.counts, memory.flags, np.zeros(2, np.int64)
    first, at, last = np.zeros(limit + 1, np.int64), np.zeros(limit + 1, np.int64), np.zeros(limit + 1, np.int64)
    wanted, edges = np.zeros(limit + 1, np.int64), np.zeros(limit + 1, np.int64)
    found, size, top, joins, joining = 0, 0, np.int64(0), np.uint32(q), True
    while True:
        if joining:
            members[size], taken[joins] = joins, _MEMBER
            edges[size + 1] = edges[size] + _ones(flags[joins])
            for i in range(*_row(rows, joins)):
                flags[rows.neighbours[i]] |= np.uint8(1 << size)
            reads -= _degree(rows, joins)
            size += 1
            first[size] = at[size] = top
            v, lacks = _neediest(rows, members, size, flags)
            wanted[size], room = max(1, lacks), limit - size
            spare = _most_edges(edges[size], size, room) - value[0]
            if lacks == 0:
                if found == 0 or _outranks(rows, members[:size], edges[size], best[:found], value, taken):
                    if found == 0:
                        value[0], value[1] = edges[size], -1
                    found = size
                    for i in range(size):
                        best[i] = members[i]
            elif lacks <= room and spare >= 0:
                reads -= _degree(rows, v)
                if reads >= 0:
                    top, unknown = _branches(rows, v, members, size, room, size - spare, memory, stack, top, unknown)
            last[size] = top
        if reads >= 0 and last[size] - at[size] >= wanted[size]:
            joins = stack[at[size]]
            reached = _most_edges(edges[size], size, limit - size) - size + _ones(flags[joins])
            if reached >= value[0]:
                at[size] += 1
                joining = True
                continue
        joining = False
        for i in range(first[size], at[size]):
            taken[stack[i]] = _FREE
        top = first[size]
        size -= 1
        taken[members[size]] = _TRIED if size > 0 else _FREE
        for i in range(*_row(rows, members[size])):
            flags[rows.neighbours[i]] &= np.uint8(~(1 << size) & 0xFF)
        if size == 0:
            return found, reads, unknown


@_called_from_python
def list_small_sets(rows, queries, sizes, members, lows, best, memory, done):
    """Look for the best p-cohesion of each query by listing those of at most eight members, as far as reads allow.

    Args:
        rows: the graph.
        queries: int64.
        sizes: int64, one per query; filled with the size of what was found, or 0.
        members: uint32, shape (queries, 8); filled with it.
        lows: int64; filled with a size below which there is no p-cohesion around the query.
        best: bool; filled with whether what was found is the best of all.
        memory: this thread's.
        done: the query to begin with.

    Returns:
        The queries done, and how many vertices in `memory.missing` must be known for the next one. If the search was
        stopped, fewer are done than there are, and none is missing.
    """
    own, found = np.empty(LARGEST_LISTED, np.uint32), np.empty(LARGEST_LISTED, np.uint32)
    stack = np.empty(_LISTING_READS, np.uint32)
    for a in range(done, len(queries)):
        q, reads, unknown = queries[a], np.int64(_LISTING_READS), np.int64(0)
        if memory.stop[0] > 0:
            return a, unknown
        limit, size = _need(rows, q) + 1, 0
        while limit <= LARGEST_LISTED:
            size, reads, unknown = _list_sets(rows, q, limit, reads, memory, own, stack, found, unknown)
            if size > 0 or reads < 0:
                break
            limit += 1
        for i in range(unknown):
            memory.counts[memory.missing[i]] = _FREE
        if unknown > 0:
            return a, unknown
        sizes[a], lows[a], best[a] = size, limit, size > 0 and reads >= 0
        for i in range(size):
            members[a, i] = found[i]
    return len(queries), np.int64(0)


# --- A set and the vertices beside it, as a separate graph (ALGORITHM.md#rounds)


class _Around(NamedTuple):
    """Vertices, in the order of their identifiers, as a separate graph.

    Attributes:
        vertices: uint32, N.
        offsets: int64, N + 1.
        heads: uint32; the rows.
        need: int64, N; their needs in the whole graph.
    """

    vertices: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    heads: NDArray[np.uint32]
    need: NDArray[np.int64]


@_compiled
def _around(rows, vertices, counts):
    """The graph of some vertices."""
    order = _by_identifier(rows, vertices)
    own, offsets, need = (
        np.empty(len(order), np.uint32),
        np.zeros(len(order) + 1, np.int64),
        np.empty(len(order), np.int64),
    )
    room = 1
    for i in range(len(order)):
        own[i] = vertices[order[i]]
        counts[own[i]] = i + 1
        room += _degree(rows, own[i])
    heads, arcs = np.empty(room, np.uint32), np.uint64(0)
    for i in range(len(own)):
        need[i] = _need(rows, own[i])
        for k in range(*_row(rows, own[i])):
            place = counts[rows.neighbours[k]]
            heads[arcs] = place - 1
            arcs += np.uint64(place > 0)
        offsets[i + 1] = arcs
    for v in own:
        counts[v] = 0
    return _Around(own, offsets, heads, need)


_LEVELS = 1024


@_lean
def _level(inside, need):
    """How much of its need a vertex has in a set: 256 for all of it."""
    return min(256 * inside // need, _LEVELS - 1)


@_compiled
def _beside(rows, members, counts, missing):
    """List a set, followed by those vertices beside it that have most of their need in it.

    Returns:
        The vertices; whether no vertex at all is beside the set; how many are in `missing`.
    """
    room, unknown = len(members), np.int64(0)
    for v in members:
        room += _degree(rows, v)
        counts[v] = _INSIDE
    listed, size, levels = np.empty(room, np.uint32), np.uint64(len(members)), np.zeros(_LEVELS, np.int64)
    for i in range(len(members)):
        listed[i] = members[i]
    for v in members:
        for i in range(*_row(rows, v)):
            w = rows.neighbours[i]
            if counts[w] == 0:
                listed[size] = w
                size += np.uint64(1)
                if rows.places[w] < 0:
                    missing[unknown] = w
                    unknown += 1
            counts[w] += 1
    kept, least, ties = np.uint64(len(members)), _LEVELS, max(_BESIDE, len(members))
    if unknown == 0:
        for w in listed[len(members) : size]:
            if _need(rows, w) < len(members):
                levels[_level(counts[w], _need(rows, w))] += 1
        while least > 0 and levels[least - 1] <= ties:
            least -= 1
            ties -= levels[least]
        kept = _keep_promising(rows, listed, len(members), size, least, ties, counts)
    for v in members:
        counts[v] = 0
        for i in range(*_row(rows, v)):
            counts[rows.neighbours[i]] = 0
    return listed[:kept], size == len(members), unknown


@_compiled
def _keep_promising(rows, listed, start, stop, least, ties, counts):
    """Keep those from `start` on that reach level `least`; of those one below, the `ties` smallest identifiers."""
    kept, tied = np.uint64(start), 0
    below = np.empty(stop - start, np.uint32)
    for i in range(start, stop):
        w = listed[i]
        need = _need(rows, w)
        if need < start:
            level = _level(counts[w], need)
            if level >= least:
                listed[kept] = w
                kept += np.uint64(1)
            elif level == least - 1:
                below[tied] = w
                tied += 1
    if tied > 0 and ties > 0:
        order = _by_identifier(rows, below[:tied])
        for i in range(ties):
            listed[kept] = below[order[i]]
            kept += np.uint64(1)
    return kept


_GONE = 0
_OPEN = 1
_MUST = 2


@_lean
def _local_row(around, i):
    return np.uint64(around.offsets[i]), np.uint64(around.offsets[i + 1])


@_lean
def _peel(around, state, spare, leaving):
    """Remove from all vertices those that fall below their need; fill `spare` with what the others have beyond it."""
    left, done = 0, 0
    for i in range(len(state)):
        state[i] = _OPEN
        spare[i] = around.offsets[i + 1] - around.offsets[i] - around.need[i]
        if spare[i] < 0:
            state[i] = _GONE
            leaving[left] = i
            left += 1
    while done < left:
        for k in range(*_local_row(around, leaving[done])):
            w = around.heads[k]
            spare[w] -= 1
            if spare[w] < 0 and state[w] == _OPEN:
                state[w] = _GONE
                leaving[left] = w
                left += 1
        done += 1


@_compiled
def _removal_order(around, spare, start, turn):
    """The order of trying: the neediest first in even turns, those with few neighbours first in odd ones.

    Lots are drawn in all turns except the first two of start 0.
    """
    n = len(spare)
    keys = np.empty(n, np.int64)
    for i in range(n):
        need, degree = around.need[i], spare[i] + around.need[i]
        if start == 0 and turn < 2:
            key = (degree << 12) - need if turn & 1 else degree - (need << 12)
        else:
            lot = _lot(start, turn, i)
            a, b = lot & 63, (lot >> 6) & 63
            key = 32 * degree * (96 + a) - 19 * need * b if turn & 1 else 19 * degree * b - 64 * need * (32 + a)
        keys[i] = key * n + i
    return np.argsort(keys)


@_lean
def _shrink(around, order, q, state, spare, leaving):
    """Make the set that is not gone, a p-cohesion around q, minimal; its vertices are tried in the given order."""
    # A vertex with no neighbour to spare needs all of them. Without this a star's centre would fall, and its whole row
    # with it, at each of its leaves: 3 seconds instead of 0.1 for one leaf of a star of 200,000.
    state[q], leaving[0], left, done = _MUST, q, 1, 0
    while done < left:
        if spare[leaving[done]] == 0:
            for k in range(*_local_row(around, leaving[done])):
                w = around.heads[k]
                if state[w] == _OPEN:
                    state[w] = _MUST
                    leaving[left] = w
                    left += 1
        done += 1
    for v in order:
        if state[v] != _OPEN:
            continue
        leaving[0], left, done, holds = v, 1, 0, True
        state[v] = _GONE
        while done < left and holds:
            for k in range(*_local_row(around, leaving[done])):
                w = around.heads[k]
                spare[w] -= 1
                if spare[w] < 0 and state[w] != _GONE:
                    holds = holds and state[w] == _OPEN
                    if state[w] == _OPEN:
                        state[w] = _GONE
                        leaving[left] = w
                        left += 1
            done += 1
        if not holds:
            for i in range(left):
                state[leaving[i]] = _OPEN
            for i in range(done):
                for k in range(*_local_row(around, leaving[i])):
                    spare[around.heads[k]] += 1
            state[v] = _MUST


@_compiled
def _minimal(around, q, start, turn):
    """A minimal p-cohesion around q within a graph that has one, its members in the order of their identifiers."""
    n, place = len(around.vertices), 0
    state, spare, leaving = np.empty(n, np.uint8), np.empty(n, np.int64), np.empty(n, np.uint32)
    while around.vertices[place] != q:
        place += 1
    _peel(around, state, spare, leaving)
    _shrink(around, _removal_order(around, spare, start, turn), place, state, spare, leaving)
    members, size = np.empty(n, np.uint32), 0
    for i in range(n):
        members[size] = around.vertices[i]
        size += state[i] != _GONE
    return members[:size]


@_compiled
def _improved(rows, q, members, low, start, memory):
    """Improve a minimal p-cohesion around q in rounds, until it has the size `low`.

    Returns:
        The best set; whether it is the only one; how many are in `memory.missing`.
    """
    counts, best, now = memory.counts, members, members
    value, around = _value(rows, members, counts), _around(rows, members[:0], counts)
    fresh, rounds = True, _ROUNDS if len(members) <= _LARGE else _LARGE_ROUNDS
    for turn in range(rounds):
        if len(best) == low or memory.stop[0] > 0:
            break
        if fresh:
            listed, alone, unknown = _beside(rows, now, counts, memory.missing)
            if alone or unknown > 0:
                return best, alone, unknown
            around = _around(rows, listed, counts)
        others = _minimal(around, q, start, turn)
        fresh = len(others) <= len(now)
        if fresh:
            now = others
            if _outranks(rows, now, _edges_inside(rows, now, counts), best, value, counts):
                best = now
    return best, False, np.int64(0)


# --- Starts (ALGORITHM.md#starts)

_HELPS = 1 << 32  # in `counts`: members that a vertex would help, in the bits above those that it is adjacent to
_LOW = _HELPS - 1


@_lean
def _gain(count, lacks):
    """How much a vertex lowers what is lacking, by its entry in `counts` and how many neighbours it would lack."""
    return 128 * ((count >> 32) - lacks) + 64 * (count & _LOW)


@_compiled
def _choose(rows, v, cap, start, drawn, unknown, memory):
    """The neighbour of v that most lowers what is lacking, among those that a set of `cap` members can hold.

    Returns:
        Whether there is one among those that are known; that neighbour; the lots drawn so far; how many are in
        `memory.missing`, `unknown` of them from before: those added might have to be chosen in its place.
    """
    counts, best, chosen, before = memory.counts, np.int64(0), np.uint32(0), unknown
    found = False
    begin, stop = _row(rows, v)
    row = rows.neighbours[begin:stop]
    order = _by_identifier(rows, row) if start > 0 else np.empty(0, np.int64)
    for i in range(len(row)):
        w = row[order[i]] if start > 0 else row[i]
        if memory.flags[w] != _FREE:
            continue
        if rows.places[w] < 0:
            memory.missing[unknown], memory.flags[w] = w, _UNKNOWN
            unknown += 1
            continue
        need = _need(rows, w)
        if need >= cap:
            continue
        gain = _gain(counts[w], max(0, need - (counts[w] & _LOW)))
        if start > 0:
            gain += _lot(start, _GROWING, drawn) & 255
            drawn += 1
        if not found or gain > best or (gain == best and rows.ranks[w] < rows.ranks[chosen]):
            found, best, chosen = True, gain, w
    if start == 0 and found:  # later starts draw a lot for each one that fits, so all must be known
        unknown = _that_may_gain(rows, best, chosen, before, unknown, memory)
    return found, chosen, drawn, unknown


@_lean
def _that_may_gain(rows, best, chosen, before, unknown, memory):
    """Keep, of the vertices missing since `before`, those that would be chosen if they lacked none themselves."""
    left = before
    for i in range(before, unknown):
        w = memory.missing[i]
        most = _gain(memory.counts[w], 0)
        # A text key that is not known yet has rank 0, which is no rank of its own.
        if most > best or (most == best and rows.ranks[w] <= rows.ranks[chosen]):
            memory.missing[left] = w
            left += 1
        else:
            memory.flags[w] = _FREE
    return left


@_lean
def _take(rows, lacking, waiting, counts):
    """Drop those that no longer lack any; return how many are left, and which has most inside, ties by identifier."""
    left, taken, most = 0, np.uint32(0), np.int64(-1)
    for i in range(waiting):
        v = lacking[i]
        inside = counts[v] & _LOW
        if inside < _need(rows, v):
            lacking[left] = v
            left += 1
            if inside > most or (inside == most and rows.ranks[v] < rows.ranks[taken]):
                taken, most = v, inside
    return left, taken


@_compiled
def _grow(rows, q, cap, start, ahead, memory):
    """Grow a p-cohesion around q, one vertex at a time.

    Where vertices are missing it goes on as if they would not be chosen, which is often true, until more than `ahead`
    are: a trip costs more than the rows it brings. What has grown by then is not looked at.

    Returns:
        Its members, none if it was given up; the entries of rows read; how many are in `memory.missing`.
    """
    counts, flags, most = memory.counts, memory.flags, _GROWN * cap
    order, lacking = np.empty(most, np.uint32), np.empty(most, np.uint32)
    size, waiting, reads, drawn, unknown = 0, 0, np.int64(0), np.int64(0), np.int64(0)
    joins, taken, goes_on = np.uint32(q), np.uint32(q), True
    while goes_on:
        order[size], flags[joins] = joins, _MEMBER
        size += 1
        amount = np.int64(1)
        if (counts[joins] & _LOW) < _need(rows, joins):
            lacking[waiting] = joins
            waiting += 1
            amount += _HELPS
        reads += _degree(rows, joins)
        for i in range(*_row(rows, joins)):
            w = rows.neighbours[i]
            counts[w] += amount
            if flags[w] == _MEMBER and (counts[w] & _LOW) == _need(rows, w):
                _add(rows, w, counts, -_HELPS)
        if size == 1 or (counts[taken] & _LOW) >= _need(rows, taken):
            waiting, taken = _take(rows, lacking, waiting, counts)
        goes_on = waiting > 0 and size < most and reads <= _GROWTH_READS
        if goes_on:
            reads += _degree(rows, taken)
            goes_on, joins, drawn, unknown = _choose(rows, taken, cap, start, drawn, unknown, memory)
            goes_on = goes_on and unknown <= ahead
    for i in range(unknown):
        flags[memory.missing[i]] = _FREE
    for i in range(size):
        v = order[i]
        flags[v], counts[v] = 0, 0
        for k in range(*_row(rows, v)):
            counts[rows.neighbours[k]] = 0
    return order[: size if waiting == 0 else 0], reads, unknown


# --- Swaps (ALGORITHM.md#swaps)


class _Swapping(NamedTuple):
    """A set of fixed size within a graph of vertices around it; its members may lack neighbours.

    Attributes:
        member: bool, N.
        inside: int64, N; neighbours in the set.
        helps: int64, N; members among the neighbours that lack neighbours.
        tight: int64, N; members among the neighbours that have no more than they need.
    """

    member: NDArray[np.bool_]
    inside: NDArray[np.int64]
    helps: NDArray[np.int64]
    tight: NDArray[np.int64]


@_lean
def _add_local(around, counts, i, amount):
    for k in range(*_local_row(around, i)):
        counts[around.heads[k]] += amount


_IN = np.int64(1)
_OUT = np.int64(-1)


@_lean
def _move(around, swapping, i, amount):
    """Let vertex i enter the set, `_IN`, or leave it, `_OUT`."""
    member, inside, helps, tight = swapping
    if amount < 0:
        member[i] = False
    else:
        member[i] = True
    if inside[i] < around.need[i]:
        _add_local(around, helps, i, amount)
    if inside[i] <= around.need[i]:
        _add_local(around, tight, i, amount)
    for k in range(*_local_row(around, i)):
        w = around.heads[k]
        before = inside[w] - around.need[w]
        inside[w] += amount
        if member[w]:
            after = before + amount
            if (before < 0) != (after < 0):
                _add_local(around, helps, w, -amount)
            if (before <= 0) != (after <= 0):
                _add_local(around, tight, w, -amount)


@_compiled
def _swap(rows, around, q, members, phase, memory):
    """Swap a member for another vertex, turn after turn; return whether a better set came up, and the best one."""
    n, lacking, value, best = len(around.vertices), np.int64(0), _value(rows, members, memory.counts), members
    swapping = _Swapping(np.zeros(n, np.bool_), np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64))
    member, inside, helps, tight = swapping
    barred, lots, own = np.zeros(n, np.int64), np.empty(n, np.int64), np.empty(len(members), np.int64)
    edges, size, came_up = value[0], np.int64(0), False
    for v in members:
        memory.flags[v] = 1
    for i in range(n):
        lots[i] = _lot(phase, _GROWING + 1, i) & 1023
        if memory.flags[around.vertices[i]]:
            _move(around, swapping, i, _IN)
            own[size] = i
            size += 1
        if around.vertices[i] == q:
            barred[i] = _SWAPS + 1
    for v in members:
        memory.flags[v] = 0
    for turn in range(1, _SWAPS + 1):
        twist = (turn * 2654435761) & 1023
        most, leaves, place = np.int64(-1) << 60, np.int64(-1), np.int64(0)
        for k in range(size):
            i = own[k]
            if barred[i] <= turn:
                gain = ((3 * (max(0, around.need[i] - inside[i]) - tight[i]) - inside[i]) << 10) + (lots[i] ^ twist)
                if gain > most or (gain == most and i < leaves):
                    most, leaves, place = gain, i, k
        if leaves < 0:
            continue
        lacking += tight[leaves] - max(0, around.need[leaves] - inside[leaves])
        edges -= inside[leaves]
        _move(around, swapping, leaves, _OUT)
        barred[leaves] = turn + 5 + ((lots[leaves] ^ twist) & 7)
        most, enters = np.int64(-1) << 60, leaves
        for i in range(n):
            if not member[i] and barred[i] <= turn:
                gain = ((3 * (helps[i] - max(0, around.need[i] - inside[i])) + inside[i]) << 10) + (lots[i] ^ twist)
                if gain > most:
                    most, enters = gain, i
        lacking += max(0, around.need[enters] - inside[enters]) - helps[enters]
        edges += inside[enters]
        _move(around, swapping, enters, _IN)
        barred[enters] = turn + 2 + ((lots[enters] ^ twist) & 3)
        own[place] = enters
        if lacking == 0 and edges >= value[0]:
            others = _set_of(around, member, size)
            if _differ(others, best) and _outranks(rows, others, edges, best, value, memory.counts):
                came_up, best = True, others
    return came_up, best


@_compiled
def _set_of(around, member, size):
    members, filled = np.empty(size + 1, np.uint32), 0
    for i in range(len(member)):
        members[filled] = around.vertices[i]
        filled += member[i]
    return members[:size]


@_lean
def _differ(members, others):
    for i in range(len(members)):  # noqa: SIM110 - generators are not compiled
        if members[i] != others[i]:
            return True
    return False


@_compiled
def _swapped(rows, q, members, memory):
    """Swap members of the best set for others, in phases; return what `_improved` does."""
    best, counts = members, memory.counts
    for phase in range(_PHASES):
        if not 2 < len(best) <= _LARGE or memory.stop[0] > 0:
            break
        listed, alone, unknown = _beside(rows, best, counts, memory.missing)
        if alone or unknown > 0:
            return best, alone, unknown
        came_up, others = _swap(rows, _around(rows, listed, counts), q, best, phase, memory)
        if not came_up:
            break
        best = _minimal(_around(rows, others, counts), q, _FIRST, _FIRST)
    return best, False, np.int64(0)


# --- Searches


@_compiled
def _started(rows, q, first, low, effort, ahead, memory):
    """Find the best set around q over several starts, each improved in rounds; return what `_improved` does."""
    best, counts, reads, start = first, memory.counts, np.int64(0), _FIRST
    value = _value(rows, best, counts)
    while len(best) > low and (start == 0 or (reads <= effort * _START_READS and start < effort * _STARTS)):
        begun, better = best, False
        if len(best) <= _LARGE:
            grown, read, unknown = _grow(rows, q, len(best) + (start > 0), start, ahead, memory)
            reads += read
            if unknown > 0:
                return best, False, unknown
            if len(grown) > 0:
                grown = _minimal(_around(rows, grown, counts), q, _FIRST, _FIRST)
                better = _outranks(rows, grown, _edges_inside(rows, grown, counts), best, value, counts)
            if len(grown) > 0 and (better or start > 0):
                begun = grown
        elif start > 0:
            break
        if better:
            best = begun
        begun, alone, unknown = _improved(rows, q, begun, low, start, memory)
        if alone or unknown > 0:
            return begun, alone, unknown
        if _outranks(rows, begun, _edges_inside(rows, begun, counts), best, value, counts):
            best = begun
        start += 1
    return best, False, np.int64(0)


@_called_from_python
def improve(rows, queries, bounds, members, sizes, lows, best, effort, ahead, memory, done):
    """Improve, in place, one after another, the sets that are not known to be best.

    Args:
        rows: the graph.
        queries: int64.
        bounds, members, sizes: int64, uint32, int64; the i-th set, a minimal p-cohesion, begins at
            `members[bounds[i]]` and has `sizes[i]` members. No set grows.
        lows: int64; from `list_small_sets`.
        best: bool; whether a set is known to be best; becomes true if it turns out to be the only p-cohesion.
        effort: how many times as many starts, and reads for them, are allowed as at an effort of 1.
        ahead: how many vertices that are likely to be missing next are listed after those that are missing.
        memory: this thread's.
        done: the query to begin with.

    Returns:
        What `list_small_sets` does.
    """
    for a in range(done, len(queries)):
        if best[a]:
            continue
        q = np.uint32(queries[a])
        first = members[bounds[a] : bounds[a] + sizes[a]].copy()
        found, only, unknown = _started(rows, q, first, lows[a], effort, ahead, memory)
        if not only and unknown == 0:
            found, only, unknown = _swapped(rows, q, found, memory)
        if unknown > 0 or memory.stop[0] > 0:
            return a, unknown
        for i in range(len(found)):
            members[bounds[a] + i] = found[i]
        sizes[a], best[a] = len(found), only
    return len(queries), np.int64(0)
