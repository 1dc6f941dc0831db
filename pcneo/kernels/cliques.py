"""k-cliques on arrays: their number at each vertex, at each edge, and inside cohesions.

A k-clique is counted at its *root*, the first of its vertices to leave (see `degeneracy`): the root and k-1 of its
successors, whose adjacency is a small matrix of bits. In that matrix vertices have local numbers, the root the last. Up
to 63 successors fit one word, and the compiler makes separate code for that case.

Cliques are counted without being listed (Jain and Seshadhri, "The Power of Pivoting for Exact Clique Counting", 2020).
A *node* of the walk has two sets: H, the vertices it holds, and T, the vertices adjacent to all of H. Vertices of T
that are adjacent to all others of T move to P, a clique adjacent to all of H and T. Of the rest of T, the vertex with
the fewest non-neighbours there is the pivot. Each of its non-neighbours in turn is held, which makes a node below with
its neighbours in T, and leaves T; then the pivot moves to P. This repeats until T is empty. The node then stands for
the cliques made of H and need = k - |H| vertices of P. Where need is two, those are two vertices of P, one of P and one
of T, or the ends of an edge in T. Every k-clique of the root belongs to exactly one node.

A node counts three numbers, including all nodes below it: the cliques, those that contain a given vertex of P, and
those that contain two given vertices of P. They are credited to the vertices, or pairs, that the node has and the node
above it does not have. When a vertex joins P late, the count so far is subtracted from it; the final count is added at
the end.

Counts are at most 2^63 - 1. A sum of two counts that exceeds it comes out negative, and every sum is checked for that.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pcneo.kernels.instructions import fetch, lowest, ones

OVERFLOW = -1

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_SIX = np.uint64(6)
_ALL = np.uint64(2**64 - 1)
_LAST = np.uint64(63)
_MANY = 16  # average neighbours of a successor among the successors; above it, listing 4- and 5-cliques costs more
_AWAY = 63  # the local number of a vertex that is not a successor of a root with one word, which has at most 63


class Workspace(NamedTuple):
    """One thread's memory, for roots of at most d successors; between roots `credits` and `pairs` are zero.

    The depth of a node is |H|. Sets are rows of bits, one after another, each as many words as the root's successors
    need.

    Attributes:
        place: uint8, n; a vertex's local number where one word is enough; `_AWAY` for a vertex that has none.
        wide_place: uint32, n; a vertex's local number plus one where one word is not enough; empty if it always is.
        rows: uint64; bit j of row i is set if the successors i and j of the root are adjacent.
        rest: uint64; T at each depth.
        waiting: uint64; the vertices of T to hold next, at each depth.
        joined: uint64; the vertices that moved from T to P, at each depth.
        joining: uint64; the vertices that are moving now.
        held: uint64, depth; the vertex whose holding made the node at this depth, the root first.
        clique: uint64, d; the vertices of P.
        clique_sizes: int64, depth; |P|.
        counted: int64, (depth, 3); the cliques, those with a given vertex of P, those with two given vertices of P.
        credits: int64, d; a number for each local vertex except the root.
        pairs: int64, (d + 1)²; a number for each pair of local vertices; empty where pairs are not counted.
    """

    place: NDArray[np.uint8]
    wide_place: NDArray[np.uint32]
    rows: NDArray[np.uint64]
    rest: NDArray[np.uint64]
    waiting: NDArray[np.uint64]
    joined: NDArray[np.uint64]
    joining: NDArray[np.uint64]
    held: NDArray[np.uint64]
    clique: NDArray[np.uint64]
    clique_sizes: NDArray[np.int64]
    counted: NDArray[np.int64]
    credits: NDArray[np.int64]
    pairs: NDArray[np.int64]


def workspace(vertex_count: int, largest: int, k: int, pairs: bool = False) -> Workspace:
    """Return a fresh workspace for k-cliques at roots of at most `largest` successors."""
    words = max(1, (largest + 63) // 64)
    depth = min(k, largest + 1) + 1
    return Workspace(
        place=np.full(vertex_count, _AWAY, np.uint8),
        wide_place=np.zeros(vertex_count if largest > _AWAY else 0, np.uint32),
        rows=np.zeros(max(_AWAY, largest) * words, np.uint64),
        rest=np.zeros(depth * words, np.uint64),
        waiting=np.zeros(depth * words, np.uint64),
        joined=np.zeros(depth * words, np.uint64),
        joining=np.zeros(words, np.uint64),
        held=np.zeros(depth, np.uint64),
        clique=np.zeros(largest, np.uint64),
        clique_sizes=np.zeros(depth, np.int64),
        counted=np.zeros((depth, 3), np.int64),
        credits=np.zeros(largest, np.int64),
        pairs=np.zeros((largest + 1) ** 2 if pairs else 0, np.int64),
    )


# --- Sets of local vertices as words of bits


@njit(nogil=True, cache=True, forceinline=True)
def _size(sets, base, words):
    """The number of vertices in the set that begins at `base`."""
    total = _NONE
    for q in range(words):
        total += ones(sets[base + q])
    return np.int64(total)


@njit(nogil=True, cache=True, forceinline=True)
def _degree(rows, v, sets, base, words):
    """The number of neighbours of v in the set that begins at `base`."""
    total = _NONE
    for q in range(words):
        total += ones(rows[v * words + q] & sets[base + q])
    return np.int64(total)


# --- The matrix of a root


@njit(nogil=True, cache=True, forceinline=True)
def _successors(dag, v):
    return dag.heads[dag.offsets[v] : dag.offsets[v + 1]]


@njit(nogil=True, cache=True)
def start_matrix(dag, work, local):
    """Set up the matrix of a root whose successors are `local`; return its words per row."""
    count, rows = len(local), work.rows
    if count <= _AWAY:
        place, mask = work.place, (_ONE << np.uint64(count)) - _ONE
        for i in range(count):
            place[local[i]] = i
            rows[i] = _NONE
            fetch(dag.heads, dag.offsets[local[i]])  # short rows, scattered in memory
        for i in range(count):
            row = _NONE
            for w in _successors(dag, local[i]):
                row |= _ONE << np.uint64(place[w])  # without a branch: `_AWAY` sets a bit that the mask removes
            row &= mask
            rows[i] |= row
            while row != _NONE:
                rows[lowest(row)] |= _ONE << np.uint64(i)
                row &= row - _ONE
        for v in local:
            place[v] = _AWAY
        return 1
    words, wide = (count + 63) >> 6, work.wide_place
    rows[: count * words] = _NONE
    for i in range(count):
        wide[local[i]] = i + 1
    for i in range(count):
        for w in _successors(dag, local[i]):
            if wide[w] > 0:
                j = wide[w] - 1
                rows[i * words + (j >> 6)] |= _ONE << np.uint64(j & 63)
                rows[j * words + (i >> 6)] |= _ONE << np.uint64(i & 63)
    for v in local:
        wide[v] = 0
    return words


@njit(nogil=True, cache=True)
def binomials(largest, k):
    """Return C(s, r) for s = 0..largest and r = 0..min(k, largest): int64, OVERFLOW where it is 2^63 or more."""
    width = min(k, largest) + 1
    table = np.zeros((largest + 1, width), np.int64)
    table[:, 0] = 1
    for s in range(1, largest + 1):
        for r in range(1, min(s + 1, width)):
            a, b = table[s - 1, r - 1], table[s - 1, r]
            table[s, r] = OVERFLOW if a < 0 or b < 0 or a + b < 0 else a + b
    return table


# --- The walk


# The functions below are inlined and take their arrays one by one: unpacking a `Workspace` in them would count
# references in the innermost loops.


@njit(nogil=True, cache=True, forceinline=True)
def _add(credits, word, q, number):
    """Add a number to each vertex of a word, the q-th word of its set."""
    while word != _NONE:
        credits[q << _SIX | lowest(word)] += number
        word &= word - _ONE


@njit(nogil=True, cache=True, forceinline=True)
def _add_pairs(pairs, side, held, depth, clique, place, with_held, with_clique):
    """Add to the pairs of the vertex at `place` in P with the held vertices, and with the vertices of P before it."""
    v = clique[place]
    for i in range(depth):
        pairs[held[i] * side + v] += with_held
    for i in range(place):
        pairs[clique[i] * side + v] += with_clique


@njit(nogil=True, cache=True, forceinline=True)
def _take_edges(rows, rest, base, words, p, credits):
    """Credit the vertices of T at a node where two are needed and |P| = p; return the number of edges in T."""
    edges = 0
    for q in range(words):
        word = rest[base + q]
        while word != _NONE:
            v = q << _SIX | lowest(word)
            word &= word - _ONE
            degree = _degree(rows, v, rest, base, words)
            edges += degree
            credits[v] += p + degree
    return edges >> 1


@njit(nogil=True, cache=True, forceinline=True)
def _take_edge_pairs(rows, rest, base, words, p, pairs, side, held, depth, clique):
    """Do what `_take_edges` does, for pairs."""
    edges = 0
    for q in range(words):
        word = rest[base + q]
        while word != _NONE:
            v = q << _SIX | lowest(word)
            word &= word - _ONE
            degree = _degree(rows, v, rest, base, words)
            edges += degree
            for i in range(depth):
                pairs[held[i] * side + v] += p + degree
            for i in range(p):
                pairs[clique[i] * side + v] += 1
            for r in range(q, words):
                others = rows[v * words + r] & (rest[base + r] if r > q else word)
                while others != _NONE:
                    pairs[v * side + (r << _SIX | lowest(others))] += 1
                    others &= others - _ONE
    return edges >> 1


@njit(nogil=True, cache=True, forceinline=True)
def _find_pivot(rows, rest, base, words, size, joining):
    """Put the vertices of T that are adjacent to all others of T into `joining`.

    Returns:
        joined: their number.
        pivot: of the other vertices of T, the one with the fewest non-neighbours there.
    """
    most, pivot, joined = -1, _NONE, _NONE
    for q in range(words):
        word, to_all = rest[base + q], _NONE
        while word != _NONE:
            v = q << _SIX | lowest(word)
            degree = _degree(rows, v, rest, base, words)
            if degree == size - 1:
                to_all |= word & (~word + _ONE)
            elif degree > most:
                most, pivot = degree, v
            word &= word - _ONE
        joining[q] = to_all
        joined += ones(to_all)
    return np.int64(joined), pivot


@njit(nogil=True, cache=True, forceinline=True)
def _walk(work, count, words, k, chosen, of_pairs):
    """Visit all nodes of a root with `count` successors, and credit vertices or pairs with their k-cliques.

    Where `words` and `of_pairs` are constants, the compiler drops the code that does not apply.

    Returns:
        The number of k-cliques, or OVERFLOW.
    """
    rows, rest, waiting, joined, joining = work.rows, work.rest, work.waiting, work.joined, work.joining
    held, clique, clique_sizes, counted = work.held, work.clique, work.clique_sizes, work.counted
    credits, pairs, side = work.credits, work.pairs, np.uint64(count + 1)
    depth, base = 1, words
    for q in range(words):
        rest[base + q] = _ALL
        joined[base + q] = _NONE
        waiting[base + q] = _NONE
    rest[base + words - _ONE] = _ALL >> (words * np.uint64(64) - np.uint64(count))
    held[0], clique_sizes[0], clique_sizes[1] = np.uint64(count), 0, 0
    for i in range(3):
        counted[1, i] = 0
    while True:
        need, size, p, goes_on = k - depth, _size(rest, base, words), clique_sizes[depth], False
        if p + size >= need:
            if need == 2:
                if of_pairs:
                    edges = _take_edge_pairs(rows, rest, base, words, p, pairs, side, held, depth, clique)
                else:
                    edges = _take_edges(rows, rest, base, words, p, credits)
                counted[depth, 0] += (p * (p - 1) >> 1) + p * size + edges
                counted[depth, 1] += p - 1 + size
                counted[depth, 2] += 1
            else:
                more, pivot = _find_pivot(rows, rest, base, words, size, joining)
                if more > 0:
                    once, twice = counted[depth, 1], counted[depth, 2]
                    for q in range(words):
                        word = joining[q]
                        rest[base + q] &= ~word
                        joined[base + q] |= word
                        if not of_pairs:
                            if once != 0:
                                _add(credits, word, q, -once)
                            continue
                        while word != _NONE:
                            clique[p] = q << _SIX | lowest(word)
                            if once != 0:
                                _add_pairs(pairs, side, held, depth, clique, p, -once, -twice)
                            word &= word - _ONE
                            p += 1
                    p = clique_sizes[depth] + more
                    clique_sizes[depth] = p
                if more < size:
                    goes_on = True
                    for q in range(words):
                        waiting[base + q] = rest[base + q] & ~rows[pivot * words + q]
                    waiting[base + (pivot >> _SIX)] ^= _ONE << (pivot & _LAST)
                else:
                    if chosen[p, need] < 0:
                        return OVERFLOW
                    for i in range(3):
                        counted[depth, i] += chosen[p - i, need - i]
        while True:
            if not goes_on:
                # The node is done: return to the one above.
                a, b, c = counted[depth, 0], counted[depth, 1], counted[depth, 2]
                if a < 0:
                    return OVERFLOW
                if not of_pairs:
                    if b != 0:
                        for q in range(words):
                            _add(credits, joined[base + q], q, b)
                else:
                    for place in range(clique_sizes[depth - 1], clique_sizes[depth]):
                        _add_pairs(pairs, side, held, depth, clique, place, b, c)
                depth -= 1
                base -= words
                if depth == 0:
                    return a
                v = held[depth]
                if not of_pairs:
                    credits[v] += a
                else:
                    for i in range(depth):
                        pairs[held[i] * side + v] += a
                    for i in range(clique_sizes[depth]):
                        pairs[clique[i] * side + v] += b
                counted[depth, 0] += a
                counted[depth, 1] += b
                counted[depth, 2] += c
                if counted[depth, 0] < 0:
                    return OVERFLOW
            q = _NONE
            while q < words and waiting[base + q] == _NONE:
                q += _ONE
            if q == words:
                break  # no vertex waits any more: look at the node again
            goes_on = True
            word = waiting[base + q]
            waiting[base + q] = word & (word - _ONE)
            rest[base + q] ^= word & (~word + _ONE)
            v, below, left = q << _SIX | lowest(word), base + words, _NONE
            for r in range(words):
                rest[below + r] = rest[base + r] & rows[v * words + r]
                left += ones(rest[below + r])
            if np.int64(left) + clique_sizes[depth] < k - depth - 1:
                continue
            held[depth] = v
            clique_sizes[depth + 1] = clique_sizes[depth]
            depth += 1
            base = below
            for r in range(words):
                joined[base + r] = _NONE
                waiting[base + r] = _NONE
            for i in range(3):
                counted[depth, i] = 0
            break


@njit(nogil=True, cache=True)
def count_at_root(work, count, words, k, chosen):
    """Credit the local vertices with the k-cliques of a root with `count` successors, whose matrix is set up.

    Args:
        work: the workspace, with that matrix.
        count, words: the number of successors, and what `start_matrix` returned for them.
        k: 3 or more, at most count + 1.
        chosen: `binomials` for at least `count` and k.

    Returns:
        The number of k-cliques, or OVERFLOW.
    """
    if words == 1:
        return _walk(work, count, _ONE, k, chosen, False)
    return _walk(work, count, np.uint64(words), k, chosen, False)


@njit(nogil=True, cache=True)
def _count_pairs(work, count, words, k, chosen):
    """Do what `count_at_root` does, for pairs: the cliques with a and b are the sum of `pairs` at (a, b) and (b, a)."""
    if words == 1:
        return _walk(work, count, _ONE, k, chosen, True)
    return _walk(work, count, np.uint64(words), k, chosen, True)


# --- Counts for each vertex


@njit(nogil=True, cache=True)
def _list_small(rows, count, largest, small):
    """Count the triangles, and up to size `largest` the 4- and 5-cliques, of a root whose matrix has one word per row.

    One word holds all 4-cliques of a local edge, and all 5-cliques of a local triangle, so only edges and triangles are
    listed. A vertex meets each of its 4-cliques through two edges, each of its 5-cliques through three triangles.

    `small`, int64, (3, 63), is filled with the number of 3-, 4- and 5-cliques of each local vertex; `largest` is 3, 4
    or 5.

    Returns:
        The number of 3-, 4- and 5-cliques; OVERFLOW for the last two, without their part of `small`, if there are so
        many edges that a walk costs less.
    """
    fours, fives = small[1], small[2]
    edges, in_fours, in_fives = 0, 0, 0
    for i in range(count):
        degree = np.int64(ones(rows[i]))
        edges += degree
        small[0, i], fours[i], fives[i] = degree, 0, 0
    if largest == 3 or edges > _MANY * count:
        return edges >> 1, OVERFLOW, OVERFLOW
    for i in range(count):
        row = rows[i]
        later = row & (_ALL << np.uint64(i + 1))
        while later != _NONE:
            j = lowest(later)
            later &= later - _ONE
            both = row & rows[j]
            common = np.int64(ones(both))
            fours[i] += common
            fours[j] += common
            rest = both & later if largest == 5 else _NONE
            while rest != _NONE:
                h = lowest(rest)
                rest &= rest - _ONE
                common = np.int64(ones(both & rows[h]))
                fives[i] += common
                fives[j] += common
                fives[h] += common
        fours[i] >>= 1
        fives[i] //= 3
        in_fours += fours[i]
        in_fives += fives[i]
    return edges >> 1, in_fours // 3, in_fives >> 2


@njit(nogil=True, cache=True)
def count_cliques(dag, sizes, start, end, chosen, work, counts, at_root):
    """Add the cliques whose root is one of start..end-1 to the counts of their vertices.

    Args:
        dag: the graph.
        sizes: int64, ascending; the sizes k, 3 or more, of the cliques to count.
        start, end: the roots, by rank.
        chosen: `binomials` for the largest number of successors and the largest k.
        work: a workspace for the largest k; no other thread may use it meanwhile.
        counts: int64, (len(sizes), n); by rank.
        at_root: int64, (len(sizes), n); filled with the number of k-cliques of each root.

    Returns:
        0, or the k whose numbers did not fit; then discard `counts` and `work`.
    """
    largest, small = 0, np.zeros((3, _AWAY), np.int64)
    for k in sizes:
        largest = max(largest, min(k, 5))
    for root in range(start, end):
        local = _successors(dag, root)
        count = len(local)
        if count < sizes[0] - 1:
            continue
        words = start_matrix(dag, work, local)
        listed = (OVERFLOW, OVERFLOW, OVERFLOW)
        if words == 1 and count <= _AWAY and sizes[0] <= 5:
            listed = _list_small(work.rows, count, largest, small)
        for m, k in enumerate(sizes):
            if count < k - 1:
                break
            credits = work.credits
            total = listed[k - 3] if k <= 5 else OVERFLOW
            if total >= 0:
                credits = small[k - 3]
            else:
                total = count_at_root(work, count, words, k, chosen)
                if total < 0:
                    return k
            at_root[m, root] = total
            least = counts[m, root] + total
            counts[m, root] = least
            for i in range(count):
                counts[m, local[i]] += credits[i]
                credits[i] = 0
                least = min(least, counts[m, local[i]])
            if least < 0:
                return k
    return 0


# --- Counts for each edge


@njit(nogil=True, cache=True)
def count_supports(dag, k, start, end, chosen, work, supports, at_root):
    """Add the k-cliques whose root is one of start..end-1 to the supports of their edges.

    Args:
        dag, k, start, end, chosen, at_root: as in `count_cliques`, for one k.
        work: a workspace with pairs; no other thread may use it meanwhile.
        supports: int64, m; in the order of `dag.heads`.

    Returns:
        Whether every number fitted; if not, discard `supports` and `work`.
    """
    pairs = work.pairs
    for root in range(start, end):
        local = _successors(dag, root)
        count = len(local)
        if count < k - 1:
            continue
        words, side = start_matrix(dag, work, local), count + 1
        total = _count_pairs(work, count, words, k, chosen)
        if total < 0:
            return False
        at_root[root] = total
        for i in range(count):
            arc = dag.offsets[root] + i
            supports[arc] += pairs[i * side + count] + pairs[count * side + i]
            if supports[arc] < 0:
                return False
        fits = _add_local(dag, work, local, side, supports)
        pairs[: side * side] = 0
        if not fits:
            return False
    return True


@njit(nogil=True, cache=True)
def _add_local(dag, work, local, side, supports):
    """Add the counts of pairs to the supports of the edges between successors; return whether every number fitted."""
    count, pairs = len(local), work.pairs
    if count <= _AWAY:
        for i in range(count):
            work.place[local[i]] = i
    else:
        for i in range(count):
            work.wide_place[local[i]] = i + 1
    least = 0
    for i in range(count):
        v = local[i]
        for arc in range(dag.offsets[v], dag.offsets[v + 1]):
            w = dag.heads[arc]
            j = work.place[w] if count <= _AWAY else work.wide_place[w] - 1
            if 0 <= j < count:
                supports[arc] += pairs[i * side + j] + pairs[j * side + i]
                least = min(least, supports[arc])
    if count <= _AWAY:
        for v in local:
            work.place[v] = _AWAY
    else:
        for v in local:
            work.wide_place[v] = 0
    return least >= 0


# --- Inside cohesions


@njit(nogil=True, cache=True, forceinline=True)
def _neighbours_inside(offsets, neighbours, v, members, inside):
    """Put the neighbours of v among ascending members into `inside`; return their number."""
    count, at, end = 0, offsets[v], offsets[v + 1]
    for w in members:
        while at < end and neighbours[at] < w:
            at += 1
        if at < end and neighbours[at] == w:
            inside[count] = w
            count += 1
    return count


@njit(nogil=True, cache=True)
def cliques_inside(dag, k, offsets, neighbours, queries, starts, members, chosen, work, counts):
    """Fill `counts` with, for each queried vertex, the number of k-cliques that contain it inside its cohesion.

    Args:
        dag: the graph.
        k: 3 or more.
        offsets, neighbours: the graph's rows.
        queries: int64, b; the queried vertices.
        starts, members: the i-th cohesion is `members[starts[i]:starts[i + 1]]`, ascending.
        chosen: `binomials` for the most neighbours that a queried vertex has in its cohesion, and k.
        work: a workspace of that size; no other thread may use it meanwhile.
        counts: int64, b; zeros.

    Returns:
        Whether every number fitted; if not, discard `counts` and `work`.
    """
    inside = np.empty(len(work.credits), np.uint32)
    for i, q in enumerate(queries):
        count = _neighbours_inside(offsets, neighbours, q, members[starts[i] : starts[i + 1]], inside)
        if count < k - 1:
            continue
        local = inside[:count]
        for j in range(count):
            local[j] = dag.rank[local[j]]
        words = start_matrix(dag, work, local)
        total = count_at_root(work, count, words, k, chosen)
        if total < 0:
            return False
        counts[i] = total
        work.credits[:count] = 0
    return True
