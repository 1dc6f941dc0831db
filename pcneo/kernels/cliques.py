"""k-cliques on arrays: how many there are at each vertex, at each edge, and inside given sets.

A k-clique is counted at the first of its vertices to leave (see `degeneracy`): that vertex, the *root*, and k-1 of its
successors, whose adjacency is a small matrix of bits. Here a vertex is a local number, the root's after the others.

Cliques are counted without being listed (Jain and Seshadhri, "The Power of Pivoting for Exact Clique Counting", 2020).
To count those inside a set T, a vertex v that lacks neighbours in T is held, which leaves those inside T ∩ N(v) to be
counted, and taken out of T; this again and again, until T itself is a clique. The vertices H that are held and such a T
are a *leaf*. It stands for the cliques H ∪ A, where A is any set of `need` = k - |H| vertices of T. Where two are
needed, any T makes a leaf, and A is an edge inside it. Every k-clique of the root belongs to exactly one leaf.

Counts are at most 2^63 - 1. A sum of two such numbers that is larger comes out negative, and that is looked at.
"""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

__all__ = [
    "OVERFLOW",
    "Workspace",
    "binomials",
    "cliques_inside",
    "count_cliques",
    "count_supports",
    "workspace",
]

OVERFLOW = -1

_ONE = np.uint64(1)
_NONE = np.uint64(0)
_ALL = np.uint64(2**64 - 1)


class Workspace(NamedTuple):
    """Memory of one thread, for roots of at most d successors; between roots `place`, `credits`, `pairs` are zero.

    Attributes:
        place: int64, n; a vertex's local number plus one.
        rows: uint64, (d, words); bit j of row i: the successors i and j of the root are adjacent.
        sets: uint64, (depth, words); T at each depth of the walk, which is |H|.
        waiting: uint64, (depth, words); vertices of T that are held next.
        held: int64, depth; the vertices of H, the root first.
        rest: int64, d; the vertices of T.
        near: int64, d; some neighbours of one of them.
        credits: int64, d + 1; a number for each local vertex.
        pairs: int64, (d + 1, d + 1); a number for each pair of them, or (0, 0) where none is wanted.
    """

    place: NDArray[np.int64]
    rows: NDArray[np.uint64]
    sets: NDArray[np.uint64]
    waiting: NDArray[np.uint64]
    held: NDArray[np.int64]
    rest: NDArray[np.int64]
    near: NDArray[np.int64]
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
        rest=np.zeros(largest, np.int64),
        near=np.zeros(largest, np.int64),
        credits=np.zeros(largest + 1, np.int64),
        pairs=np.zeros((largest + 1, largest + 1) if pairs else (0, 0), np.int64),
    )


# --- Sets of local vertices as words of bits


def _of_word(build) -> Any:
    """Return an instruction of LLVM on a word as a function for compiled code."""

    @intrinsic
    def instruction(typing, word):
        return types.uint64(types.uint64), lambda context, builder, signature, words: build(builder, words[0])

    return instruction


_ones = _of_word(lambda builder, word: builder.ctpop(word))  # how many bits are set
_lowest = _of_word(lambda builder, word: builder.cttz(word, ir.Constant(ir.IntType(1), 1)))  # number of the lowest set


@njit(nogil=True, cache=True, forceinline=True)
def size_of(a, b, words):
    """How many vertices are in both sets."""
    total = _NONE
    for i in range(words):
        total += _ones(a[i] & b[i])
    return np.int64(total)


@njit(nogil=True, cache=True, forceinline=True)
def _first(vertices, words):
    """The smallest vertex of a set, or -1."""
    for i in range(words):
        if vertices[i] != _NONE:
            return np.int64(_lowest(vertices[i])) + 64 * i
    return -1


@njit(nogil=True, cache=True)
def list_members(a, b, start, words, listed):
    """Put the vertices in both sets, from `start` on, into `listed`, ascending; return how many they are."""
    count = 0
    mask = _ALL << np.uint64(start & 63)
    for i in range(start >> 6, words):
        word = a[i] & b[i] & mask
        mask = _ALL
        while word != _NONE:
            listed[count] = np.int64(_lowest(word)) + 64 * i
            count += 1
            word &= word - _ONE
    return count


@njit(nogil=True, cache=True, forceinline=True)
def _flip(vertices, v):
    """Put v in, or take it out where it is in."""
    vertices[v >> 6] ^= _ONE << np.uint64(v & 63)


# --- The walk from leaf to leaf


@njit(nogil=True, cache=True, forceinline=True)
def _successors(dag, v):
    return dag.heads[dag.offsets[v] : dag.offsets[v + 1]]


@njit(nogil=True, cache=True)
def start_matrix(dag, work, local):
    """Set up a walk over the vertices `local`, with a root held that has them all as neighbours; return its words."""
    count = len(local)
    words = (count + 63) >> 6
    for i, v in enumerate(local):
        work.place[v] = i + 1
        work.rows[i][:words] = _NONE
    for i, v in enumerate(local):
        for w in _successors(dag, v):
            j = work.place[w] - 1
            if j >= 0:
                _flip(work.rows[i], j)
                _flip(work.rows[j], i)
    for v in local:
        work.place[v] = 0
    work.held[0] = count
    work.sets[1][:words] = _NONE
    work.waiting[1][:words] = _NONE
    for i in range(count):
        _flip(work.sets[1], i)
    return words


@njit(nogil=True, cache=True)
def _wait(work, words, depth, size):
    """Of the vertices that lack neighbours in T take the one that lacks the fewest, and let those it lacks wait.

    Returns:
        Whether there is such a vertex; if not, T is a clique.
    """
    members, waiting = work.sets[depth], work.waiting[depth]
    pivot, fewest = -1, size
    for i in range(list_members(members, members, 0, words, work.rest)):
        v = work.rest[i]
        lacking = size - 1 - size_of(work.rows[v], members, words)
        if 0 < lacking < fewest:
            pivot, fewest = v, lacking
    if pivot < 0:
        return False
    for i in range(words):
        waiting[i] = members[i] & ~work.rows[pivot][i]
    _flip(waiting, pivot)  # it stays: once those it lacks are out of T, it lacks nobody
    return True


@njit(nogil=True, cache=True)
def find_leaf(work, k, words, depth):
    """Walk on from `depth` to the next leaf and return its depth, which is |H|; 0 if there is none."""
    while depth > 0:
        members, waiting = work.sets[depth], work.waiting[depth]
        v = _first(waiting, words)
        if v < 0:
            need, size = k - depth, size_of(members, members, words)
            if size < need:
                depth -= 1
                continue
            if need == 2 or not _wait(work, words, depth, size):
                return depth
            v = _first(waiting, words)
        _flip(waiting, v)
        _flip(members, v)
        work.held[depth] = v
        depth += 1
        for i in range(words):
            work.sets[depth][i] = members[i] & work.rows[v][i]
            work.waiting[depth][i] = _NONE
    return 0


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


# --- Counts for each vertex


@njit(nogil=True, cache=True)
def _count(work, k, words, chosen):
    """Credit the local vertices with the k-cliques they are in; return how many there are, or OVERFLOW.

    Nobody is in more of them than there are, so that it is enough to look at their sum.
    """
    total, credits = 0, work.credits
    depth = find_leaf(work, k, words, 1)
    while depth > 0:
        members, need = work.sets[depth], k - depth
        size = list_members(members, members, 0, words, work.rest)
        if need == 2:
            here = 0
            for v in work.rest[:size]:
                degree = size_of(work.rows[v], members, words)
                credits[v] += degree
                here += degree
            here //= 2
        else:
            here = chosen[size, need]
            for v in work.rest[:size]:
                credits[v] += chosen[size - 1, need - 1]
        total += here
        if here < 0 or total < 0:
            return OVERFLOW
        for h in work.held[:depth]:
            credits[h] += here
        depth = find_leaf(work, k, words, depth - 1)
    return total


@njit(nogil=True, cache=True)
def count_cliques(dag, k, start, end, chosen, work, counts, at_root):
    """Add to `counts` the k-cliques whose root is one of start..end-1, for each vertex in them.

    Args:
        dag: the graph.
        k: 3 or more.
        start, end: the roots, by when they leave.
        chosen: `binomials` for the largest number of successors and k.
        work: a workspace used by nobody else meanwhile.
        counts: int64, n; by vertex of the graph.
        at_root: int64, n; the number of k-cliques of each root is put here.

    Returns:
        Whether every number fitted; if not, nothing of this is of further use.
    """
    for root in range(start, end):
        local = _successors(dag, root)
        count = len(local)
        if count < k - 1:
            continue
        words = start_matrix(dag, work, local)
        total = _count(work, k, words, chosen)
        if total < 0:
            return False
        at_root[root] = total
        for i in range(count + 1):
            v = dag.order[local[i] if i < count else root]
            counts[v] += work.credits[i]
            if counts[v] < 0:
                return False
        work.credits[: count + 1] = 0
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
        chosen: `binomials` for the most neighbours that a query has in its set, and k.
        work: a workspace for so many, used by nobody else meanwhile.
        counts: int64, b.

    Returns:
        Whether every number fitted; if not, nothing of this is of further use.
    """
    local = np.empty(len(work.rows), np.uint32)
    for i, q in enumerate(queries):
        filled, at, end = 0, offsets[q], offsets[q + 1]
        for v in members[starts[i] : starts[i + 1]]:
            while at < end and neighbours[at] < v:
                at += 1
            if at < end and neighbours[at] == v:
                local[filled] = rank[v]
                filled += 1
        if filled < k - 1:
            continue
        words = start_matrix(dag, work, local[:filled])
        total = _count(work, k, words, chosen)
        if total < 0:
            return False
        counts[i] = total
        work.credits[: filled + 1] = 0
    return True


# --- Counts for each edge


@njit(nogil=True, cache=True)
def _count_pairs(work, k, words, chosen, limit):
    """As `_count`, for pairs of local vertices: what pair {a, b} is in is the sum of `pairs` at (a, b) and (b, a).

    Returns:
        total: the number of k-cliques, or OVERFLOW.
        looked: pairs looked at; more than `limit` if it was given up.
    """
    total, looked, pairs, held, rest, near = 0, 0, work.pairs, work.held, work.rest, work.near
    depth = find_leaf(work, k, words, 1)
    while depth > 0 and looked <= limit:
        members, need = work.sets[depth], k - depth
        size = list_members(members, members, 0, words, rest)
        looked += depth * depth
        if need == 2:
            here = 0
            for v in rest[:size]:
                degree = size_of(work.rows[v], members, words)
                for h in held[:depth]:
                    pairs[h, v] += degree
                after = list_members(work.rows[v], members, v + 1, words, near)
                for w in near[:after]:
                    pairs[v, w] += 1
                here += after
                looked += depth + after
        else:
            here = chosen[size, need]
            for i in range(size):
                for h in held[:depth]:
                    pairs[h, rest[i]] += chosen[size - 1, need - 1]
                for w in rest[i + 1 : size]:
                    pairs[rest[i], w] += chosen[size - 2, need - 2]
            looked += size * (depth + size)
        total += here
        if here < 0 or total < 0:
            return OVERFLOW, looked
        for i in range(depth):
            for h in held[:i]:
                pairs[held[i], h] += here
        depth = find_leaf(work, k, words, depth - 1)
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
        looked: pairs of vertices looked at, the measure of the work; more than `limit` if it was given up.

        If it was given up or a number did not fit, nothing of this is of further use.
    """
    looked, pairs = 0, work.pairs
    for root in range(start, end):
        local = _successors(dag, root)
        count = len(local)
        if count < k - 1:
            continue
        words = start_matrix(dag, work, local)
        total, more = _count_pairs(work, k, words, chosen, limit - looked)
        looked += more
        if total < 0 or looked > limit:
            return total >= 0, looked
        at_root[root] = total
        for i, v in enumerate(local):
            work.place[v] = i + 1
        for i, v in enumerate(local):
            edge = dag.edges[dag.offsets[root] + i]
            supports[edge] += pairs[i, count] + pairs[count, i]
            if supports[edge] < 0:
                return False, looked
            for arc in range(dag.offsets[v], dag.offsets[v + 1]):
                j = work.place[dag.heads[arc]] - 1
                if j >= 0:
                    supports[dag.edges[arc]] += pairs[i, j] + pairs[j, i]
                    if supports[dag.edges[arc]] < 0:
                        return False, looked
        for v in local:
            work.place[v] = 0
        pairs[: count + 1, : count + 1] = 0
    return True, looked
