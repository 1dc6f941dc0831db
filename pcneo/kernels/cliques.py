"""k-cliques on arrays: per vertex, per edge, inside given sets, and the largest weights beside them (algorithms.md 7).

Every edge points from the end that leaves first to the other when vertices leave the graph one by one, always the one
with the fewest neighbours left (Matula and Beck). Nobody then has more successors than the graph's degeneracy. A
k-clique is counted at its first vertex: that vertex, the *root*, and k-1 of its successors, whose adjacency is a small
matrix of bits. Within it a vertex is a local number; the root itself comes after the last successor.

Cliques are counted without being listed (Jain and Seshadhri, "The Power of Pivoting for Exact Clique Counting", 2020).
To count those inside a set T, a vertex that lacks neighbours in T is held, which leaves those inside T ∩ N(v) to be
counted, and taken out of T, again and again until T itself is a clique. What is held, H, and such a T are a *leaf*:

    it stands for the cliques H ∪ A, where A is any set of `need` = k - |H| vertices of T,

and every k-clique at this root belongs to exactly one leaf. Where one vertex is needed, any T is a leaf.

Counts are at most 2^63 - 1. A sum of two such numbers that is larger is negative, and is looked at each time.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

__all__ = [
    "OVERFLOW",
    "Dag",
    "Workspace",
    "binomials",
    "cliques_inside",
    "count_cliques",
    "count_supports",
    "largest_common",
    "largest_common_inside",
    "largest_weights",
    "orient",
    "workspace",
]

OVERFLOW = -1

_ONE = np.uint64(1)
_NONE = np.uint64(0)
_ALL = np.uint64(2**64 - 1)


class Dag(NamedTuple):
    """The graph with every edge once, from the end that leaves first. Vertices are numbered by when they leave.

    Attributes:
        order: uint32, n; the vertex that leaves i-th.
        offsets: int64, n + 1; the successors of i are `heads[offsets[i]:offsets[i + 1]]`.
        heads: uint32, m; all larger than i, in no order.
        edges: int64, m; where the edge is among all edges u < v, ascending by u, then v.
    """

    order: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    heads: NDArray[np.uint32]
    edges: NDArray[np.int64]


class Workspace(NamedTuple):
    """Memory of one thread, for roots of at most d successors; between roots `place`, `credits`, `pairs` are zero.

    Attributes:
        place: int64, n; a vertex's local number plus one.
        rows: uint64, (d, words); bit j of row i: the successors i and j of the root are adjacent.
        sets: uint64, (depth, words); T at each depth of the walk.
        waiting: uint64, (depth, words); vertices of T that are to be held next.
        held: int64, depth; the vertices of H, the root first.
        listed: int64, d; the vertices of T at a leaf.
        credits: int64, d + 1; a number for each local vertex.
        pairs: int64, (d + 1, d + 1); a number for each pair of them, or (0, 0) where none is wanted.
    """

    place: NDArray[np.int64]
    rows: NDArray[np.uint64]
    sets: NDArray[np.uint64]
    waiting: NDArray[np.uint64]
    held: NDArray[np.int64]
    listed: NDArray[np.int64]
    credits: NDArray[np.int64]
    pairs: NDArray[np.int64]


def workspace(vertex_count: int, largest: int, k: int, pairs: bool = False) -> Workspace:
    """Return a fresh workspace for k-cliques at roots of at most `largest` successors."""
    words = (largest + 63) // 64
    depth = min(k, largest + 1) + 1
    return Workspace(
        place=np.zeros(vertex_count, np.int64),
        rows=np.zeros((largest, words), np.uint64),
        sets=np.zeros((depth, words), np.uint64),
        waiting=np.zeros((depth, words), np.uint64),
        held=np.zeros(depth, np.int64),
        listed=np.zeros(largest, np.int64),
        credits=np.zeros(largest + 1, np.int64),
        pairs=np.zeros((largest + 1, largest + 1) if pairs else (0, 0), np.int64),
    )


# --- The order in which vertices leave


@njit(nogil=True, cache=True)
def _leaving_order(offsets, neighbours):
    """Return the vertices as they leave, the one with the fewest neighbours left first (Batagelj and Zaversnik)."""
    n = len(offsets) - 1
    left = np.diff(offsets)
    starts = np.zeros(np.max(left) + 2 if n > 0 else 1, np.int64)  # where vertices with so many left begin in `order`
    for degree in left:
        starts[degree + 1] += 1
    starts = np.cumsum(starts)
    order, position = np.empty(n, np.uint32), np.empty(n, np.int64)
    filled = starts.copy()
    for v in range(n):
        position[v] = filled[left[v]]
        order[position[v]] = v
        filled[left[v]] += 1
    for i in range(n):
        v = order[i]
        for w in neighbours[offsets[v] : offsets[v + 1]]:
            if left[w] > left[v]:
                first = starts[left[w]]
                other = order[first]
                order[first], order[position[w]] = w, other
                position[w], position[other] = first, position[w]
                starts[left[w]] += 1
                left[w] -= 1
    return order


@njit(nogil=True, cache=True)
def orient(offsets, neighbours):
    """Return the graph of these rows as a `Dag`."""
    n = len(offsets) - 1
    order = _leaving_order(offsets, neighbours)
    rank = np.empty(n, np.int64)
    for i in range(n):
        rank[order[i]] = i
    ends = np.zeros(n + 1, np.int64)
    for v in range(n):
        for w in neighbours[offsets[v] : offsets[v + 1]]:
            ends[rank[v] + 1] += rank[v] < rank[w]
    starts = np.cumsum(ends)
    filled = starts.copy()
    heads, edges = np.empty(len(neighbours) // 2, np.uint32), np.empty(len(neighbours) // 2, np.int64)
    edge = 0
    for v in range(n):
        for w in neighbours[offsets[v] : offsets[v + 1]]:
            if v < w:
                tail, head = min(rank[v], rank[w]), max(rank[v], rank[w])
                heads[filled[tail]], edges[filled[tail]] = head, edge
                filled[tail] += 1
                edge += 1
    return Dag(order, starts, heads, edges)


# --- Sets of local vertices as words of bits


@intrinsic
def _ones(typing, word):  # noqa: ARG001
    """How many bits of a word are set."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def _lowest(typing, word):  # noqa: ARG001
    """The number of the lowest bit that is set."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


@njit(nogil=True, cache=True, forceinline=True)
def _size(vertices, words):
    total = _NONE
    for i in range(words):
        total += _ones(vertices[i])
    return np.int64(total)


@njit(nogil=True, cache=True, forceinline=True)
def _size_of_common(a, b, words):
    total = _NONE
    for i in range(words):
        total += _ones(a[i] & b[i])
    return np.int64(total)


@njit(nogil=True, cache=True, forceinline=True)
def _next(vertices, words, start):
    """The smallest member that is `start` or larger, or -1."""
    i = start >> 6
    if i >= words:
        return -1
    word = vertices[i] & (_ALL << np.uint64(start & 63))
    while word == _NONE:
        i += 1
        if i == words:
            return -1
        word = vertices[i]
    return np.int64(_lowest(word)) + 64 * i


@njit(nogil=True, cache=True, forceinline=True)
def _flip(vertices, v):
    """Put v in, or take it out where it is in."""
    vertices[v >> 6] ^= _ONE << np.uint64(v & 63)


# --- The walk from leaf to leaf


@njit(nogil=True, cache=True)
def _wait(work, words, depth, size):
    """Let those wait that are not neighbours of the vertex of T with the fewest such; False if T is a clique."""
    members, waiting = work.sets[depth], work.waiting[depth]
    pivot, fewest = -1, size
    v = _next(members, words, 0)
    while v >= 0:
        lacking = size - 1 - _size_of_common(work.rows[v], members, words)
        if 0 < lacking < fewest:
            pivot, fewest = v, lacking
            if lacking == 1:
                break
        v = _next(members, words, v + 1)
    if pivot < 0:
        return False
    for i in range(words):
        waiting[i] = members[i] & ~work.rows[pivot][i]
    _flip(waiting, pivot)
    return True


@njit(nogil=True, cache=True)
def _leaf(work, k, words, depth, last):
    """Walk on from `depth` to the next leaf and return its depth, which is |H|; 0 if there is none.

    Where no more than `last` vertices are needed, any T is a leaf.
    """
    while depth > 0:
        members, waiting = work.sets[depth], work.waiting[depth]
        v = _next(waiting, words, 0)
        if v < 0:
            size = _size(members, words)
            if size < k - depth:
                depth -= 1
                continue
            if k - depth <= last or not _wait(work, words, depth, size):
                return depth
            v = _next(waiting, words, 0)
        _flip(waiting, v)
        _flip(members, v)
        work.held[depth] = v
        depth += 1
        for i in range(words):
            work.sets[depth][i] = members[i] & work.rows[v][i]
            work.waiting[depth][i] = _NONE
    return 0


@njit(nogil=True, cache=True)
def _start(dag, work, local):
    """Set up the bits for a walk over the vertices `local`, and hold a root; return the number of words."""
    count = len(local)
    words = (count + 63) >> 6
    for i, v in enumerate(local):
        work.place[v] = i + 1
    for i in range(count):
        work.rows[i][:words] = _NONE
    for i, v in enumerate(local):
        for w in dag.heads[dag.offsets[v] : dag.offsets[v + 1]]:
            j = work.place[w] - 1
            if j >= 0:
                _flip(work.rows[i], j)
                _flip(work.rows[j], i)
    for v in local:
        work.place[v] = 0
    work.held[0] = count
    work.waiting[1][:] = _NONE
    work.sets[1][:words] = _ALL
    if count & 63:
        work.sets[1][words - 1] = (_ONE << np.uint64(count & 63)) - _ONE
    return words


@njit(nogil=True, cache=True)
def binomials(largest, k):
    """Return C(s, r) for s = 0..largest and r = 0..min(k, largest), int64; OVERFLOW where it is 2^63 or more."""
    width = min(k, largest) + 1
    table = np.zeros((largest + 1, width), np.int64)
    table[:, 0] = 1
    for s in range(1, largest + 1):
        for r in range(1, min(s + 1, width)):
            a, b = table[s - 1, r - 1], table[s - 1, r]
            table[s, r] = OVERFLOW if a < 0 or b < 0 or a + b < 0 else a + b
    return table


# --- Counting


@njit(nogil=True, cache=True, forceinline=True)
def _credit_edges(work, members, words):
    """Credit each member of T with its neighbours in T; return the number of edges inside T."""
    ends = 0
    v = _next(members, words, 0)
    while v >= 0:
        degree = _size_of_common(work.rows[v], members, words)
        work.credits[v] += degree
        ends += degree
        v = _next(members, words, v + 1)
    return ends // 2


@njit(nogil=True, cache=True, forceinline=True)
def _credit_cliques(work, members, words, need, chosen):
    """Credit each member of a clique T with the choices of `need` of its vertices that it is in; return all choices."""
    size = _size(members, words)
    each = chosen[size - 1, need - 1]
    v = _next(members, words, 0)
    while v >= 0:
        work.credits[v] += each
        v = _next(members, words, v + 1)
    return chosen[size, need]


@njit(nogil=True, cache=True)
def _count(work, k, words, chosen):
    """Credit the local vertices with the k-cliques they are in; return how many there are, or OVERFLOW.

    Nobody is in more of them than there are, so that it is enough to look at their sum.
    """
    total = 0
    depth = _leaf(work, k, words, 1, 2)
    while depth > 0:
        members, need = work.sets[depth], k - depth
        if need == 2:
            here = _credit_edges(work, members, words)
        else:
            here = _credit_cliques(work, members, words, need, chosen)
        total += here
        if here < 0 or total < 0:
            return OVERFLOW
        for h in work.held[:depth]:
            work.credits[h] += here
        depth = _leaf(work, k, words, depth - 1, 2)
    return total


@njit(nogil=True, cache=True)
def count_cliques(dag, k, start, end, chosen, work, counts, at_root):
    """Add to `counts` the k-cliques whose root is one of start..end-1, for each vertex in them.

    Args:
        dag: the graph.
        k: 3 or more.
        start, end: the roots, by when they leave.
        chosen: `binomials` for the largest number of successors.
        work: a workspace used by nobody else meanwhile.
        counts: int64, n; by vertex of the original graph.
        at_root: int64, n; the number of k-cliques at each root is put here.

    Returns:
        Whether every number fitted; if not, what was counted is of no use.
    """
    for root in range(start, end):
        local = dag.heads[dag.offsets[root] : dag.offsets[root + 1]]
        if len(local) < k - 1:
            continue
        words = _start(dag, work, local)
        at_root[root] = _count(work, k, words, chosen)
        if at_root[root] < 0:
            return False
        for i, v in enumerate(local):
            counts[dag.order[v]] += work.credits[i]
            if counts[dag.order[v]] < 0:
                return False
        counts[dag.order[root]] += at_root[root]
        if counts[dag.order[root]] < 0:
            return False
        work.credits[: len(local) + 1] = 0
    return True


@njit(nogil=True, cache=True)
def cliques_inside(dag, rank, k, offsets, neighbours, queries, starts, members, chosen, work, counts):
    """Put into `counts`, for each query q, the number of k-cliques with q inside its set of vertices.

    Args:
        dag, rank: the graph, and for each vertex when it leaves.
        k: 3 or more.
        offsets, neighbours: the graph's rows.
        queries: int64, b vertices.
        starts, members: the i-th set is `members[starts[i]:starts[i + 1]]`, ascending.
        chosen: `binomials` for the largest number of neighbours in a set.
        work: a workspace used by nobody else meanwhile.
        counts: int64, b.

    Returns:
        Whether every number fitted.
    """
    local = np.empty(len(work.rows), np.uint32)
    for i, q in enumerate(queries):
        filled = 0
        at = offsets[q]
        for v in members[starts[i] : starts[i + 1]]:
            while at < offsets[q + 1] and neighbours[at] < v:
                at += 1
            if at < offsets[q + 1] and neighbours[at] == v:
                local[filled] = rank[v]
                filled += 1
        if filled < k - 1:
            continue
        words = _start(dag, work, local[:filled])
        counts[i] = _count(work, k, words, chosen)
        if counts[i] < 0:
            return False
        work.credits[: filled + 1] = 0
    return True


# --- Pairs: counts for each edge, and the largest weight of an edge that a vertex meets in a clique


@njit(nogil=True, cache=True, forceinline=True)
def _list(members, words, listed):
    """Put the members into `listed`, ascending, and return how many they are."""
    count = 0
    v = _next(members, words, 0)
    while v >= 0:
        listed[count] = v
        count += 1
        v = _next(members, words, v + 1)
    return count


@njit(nogil=True, cache=True)
def _count_pairs(work, k, words, chosen, limit):
    """As `_count`, for pairs of local vertices: what pair {a, b} is in is the sum of `pairs` at (a, b) and (b, a).

    Returns:
        total: the number of k-cliques, or OVERFLOW.
        looked: pairs looked at; more than `limit` if it was given up.
    """
    total, looked, pairs = 0, 0, work.pairs
    depth = _leaf(work, k, words, 1, 1)
    while depth > 0 and looked <= limit:
        need, held = k - depth, work.held[:depth]
        size = _list(work.sets[depth], words, work.listed)
        rest = work.listed[:size]
        here, each = chosen[size, need], chosen[size - 1, need - 1]
        total += here
        if here < 0 or total < 0:
            return OVERFLOW, looked
        for i in range(depth):
            for j in range(i):
                pairs[held[i], held[j]] += here
            for v in rest:
                pairs[held[i], v] += each
        looked += depth * (depth + size)
        if need > 1:
            both = chosen[size - 2, need - 2]
            for i in range(size):
                for j in range(i):
                    pairs[rest[i], rest[j]] += both
            looked += size * size
        depth = _leaf(work, k, words, depth - 1, 1)
    return total, looked


@njit(nogil=True, cache=True)
def count_supports(dag, k, start, end, chosen, limit, work, supports, at_root):
    """Add to `supports` the k-cliques whose root is one of start..end-1, for each edge in them.

    Args:
        dag, k, start, end, chosen, at_root: as in `count_cliques`.
        limit: how many pairs to look at before giving up.
        work: a workspace with pairs, used by nobody else meanwhile.
        supports: int64, m; edges u < v, ascending by u, then v.

    Returns:
        fits: whether every number fitted.
        looked: pairs looked at, by which the work is measured; more than `limit` if it was given up. If it was, or
            if a number did not fit, neither `supports` nor `work` is of further use.
    """
    looked = 0
    for root in range(start, end):
        first = dag.offsets[root]
        local = dag.heads[first : dag.offsets[root + 1]]
        count = len(local)
        if count < k - 1:
            continue
        words = _start(dag, work, local)
        at_root[root], more = _count_pairs(work, k, words, chosen, limit - looked)
        looked += more
        if at_root[root] < 0 or looked > limit:
            return at_root[root] >= 0, looked
        for i, v in enumerate(local):
            work.place[v] = i + 1
        for i, v in enumerate(local):
            supports[dag.edges[first + i]] += work.pairs[i, count] + work.pairs[count, i]
            if supports[dag.edges[first + i]] < 0:
                return False, looked
            for arc in range(dag.offsets[v], dag.offsets[v + 1]):
                j = work.place[dag.heads[arc]] - 1
                if j >= 0:
                    supports[dag.edges[arc]] += work.pairs[i, j] + work.pairs[j, i]
                    if supports[dag.edges[arc]] < 0:
                        return False, looked
        for v in local:
            work.place[v] = 0
        work.pairs[: count + 1, : count + 1] = 0
    return True, looked


@njit(nogil=True, cache=True)
def _raise(work, k, words):
    """Raise each credit to the largest of `pairs`, now weights, of a pair in a common k-clique with the vertex."""
    weights, credits = work.pairs, work.credits
    depth = _leaf(work, k, words, 1, 1)
    while depth > 0:
        need, held = k - depth, work.held[:depth]
        size = _list(work.sets[depth], words, work.listed)
        rest = work.listed[:size]
        among_held, across, among_rest = 0, 0, 0
        for i in range(depth):
            for j in range(i):
                among_held = max(among_held, weights[held[i], held[j]])
        for v in rest:
            own = 0
            for h in held:
                own = max(own, weights[h, v])
            across = max(across, own)
            if need == 1:
                credits[v] = max(credits[v], among_held, own)
        if need > 1:
            for v in rest:
                own = 0
                for w in rest:
                    own = max(own, weights[v, w])
                among_rest = max(among_rest, own)
                if need == 2:
                    credits[v] = max(credits[v], among_held, across, own)
        highest = max(among_held, across, among_rest)
        for h in held:
            credits[h] = max(credits[h], highest)
        if need > 2:
            for v in rest:
                credits[v] = max(credits[v], highest)
        depth = _leaf(work, k, words, depth - 1, 1)


@njit(nogil=True, cache=True)
def largest_weights(dag, k, start, end, weights, work, largest):
    """Raise `largest[v]` to the largest weight of an edge that lies with v in a k-clique with root start..end-1.

    Args:
        dag, k, start, end: as in `count_cliques`.
        weights: int64, m, none negative; edges u < v, ascending by u, then v.
        work: a workspace with pairs, used by nobody else meanwhile.
        largest: int64, n.
    """
    for root in range(start, end):
        first = dag.offsets[root]
        local = dag.heads[first : dag.offsets[root + 1]]
        count, any_weight = len(local), False
        if count < k - 1:
            continue
        for i, v in enumerate(local):
            work.place[v] = i + 1
        for i, v in enumerate(local):
            weight = weights[dag.edges[first + i]]
            work.pairs[i, count] = work.pairs[count, i] = weight
            any_weight |= weight > 0
            for arc in range(dag.offsets[v], dag.offsets[v + 1]):
                j = work.place[dag.heads[arc]] - 1
                if j >= 0:
                    weight = weights[dag.edges[arc]]
                    work.pairs[i, j] = work.pairs[j, i] = weight
                    any_weight |= weight > 0
        for v in local:
            work.place[v] = 0
        if any_weight:
            words = _start(dag, work, local)
            _raise(work, k, words)
            for i, v in enumerate(local):
                largest[dag.order[v]] = max(largest[dag.order[v]], work.credits[i])
            largest[dag.order[root]] = max(largest[dag.order[root]], work.credits[count])
            work.credits[: count + 1] = 0
            work.pairs[: count + 1, : count + 1] = 0


# --- Common neighbours


@njit(nogil=True, cache=True)
def largest_common(offsets, neighbours, first, last, largest):
    """Raise `largest` to the most common neighbours of a pair {v, u}, u > v, with v in first..last-1, at both its ends.

    Args:
        offsets, neighbours: the graph's rows.
        first, last: the vertices v.
        largest: int64, n.
    """
    common = np.zeros(len(largest), np.int64)
    met = np.empty(len(largest), np.uint32)
    for v in range(first, last):
        count = 0
        for w in neighbours[offsets[v] : offsets[v + 1]]:
            for i in range(offsets[w + 1] - 1, offsets[w] - 1, -1):
                u = neighbours[i]
                if u <= v:
                    break
                if common[u] == 0:
                    met[count] = u
                    count += 1
                common[u] += 1
        for u in met[:count]:
            largest[u] = max(largest[u], common[u])
            largest[v] = max(largest[v], common[u])
            common[u] = 0


@njit(nogil=True, cache=True)
def largest_common_inside(dag, rank, offsets, neighbours, queries, starts, members, largest):
    """Put into `largest`, for each query q, the most neighbours that q and another member share inside its set.

    Args:
        dag, rank, offsets, neighbours, queries, starts, members: as in `cliques_inside`.
        largest: int64, b.
    """
    inside = np.zeros(len(rank), np.uint8)  # by when a vertex leaves: 1 for a member, 2 if it is a neighbour of q too
    common = np.zeros(len(rank), np.int64)
    for i, q in enumerate(queries):
        group = members[starts[i] : starts[i + 1]]
        for v in group:
            inside[rank[v]] = 1
        for v in neighbours[offsets[q] : offsets[q + 1]]:
            inside[rank[v]] *= 2
        for v in group:
            a = rank[v]
            for b in dag.heads[dag.offsets[a] : dag.offsets[a + 1]]:
                if inside[b] == 2:
                    common[a] += 1
                if inside[a] == 2 and inside[b] > 0:
                    common[b] += 1
        for v in group:
            if v != q:
                largest[i] = max(largest[i], common[rank[v]])
        for v in group:
            inside[rank[v]] = 0
            common[rank[v]] = 0
