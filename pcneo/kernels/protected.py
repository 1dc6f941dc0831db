"""Pairs of vertices inside groups, and the graph that has them all, one vertex at a time (GUARANTEE.md#critical).

A group is a set of vertices, and groups overlap. P̂ is the set of all pairs of vertices inside some group, and Ĝ is the
graph with all of them added. A vertex's row of Ĝ lists its *partners*, with which it shares a group, and its other
neighbours. Rows are made when they are needed, from the groups of the vertex, so a pair counts once however many groups
it lies in.
"""

import numpy as np
from numba import njit

from pcneo.kernels.instructions import lowest

# --- One row


@njit(nogil=True, cache=True, forceinline=True)
def _mark_new(vertices, marks, count):
    """Mark vertices and append the new ones to the first `count` of the row; return the row's new length.

    It has no branch: which vertices are new is hard to predict.
    """
    marked, row = marks
    for w in vertices:
        row[count] = w
        count += 1 - marked[w]
        marked[w] = 1
    return count


@njit(nogil=True, cache=True)
def _mark_bits(v, bits, marks):
    """Mark the vertices whose bits are set, except v, and put them into the row; return their number."""
    marked, row = marks
    count = 0
    for i in range(len(bits)):
        word = bits[i]
        while word:
            w = 64 * i + np.int64(lowest(word))
            word &= word - np.uint64(1)
            if w != v:
                row[count] = w
                marked[w] = 1
                count += 1
    return count


@njit(nogil=True, cache=True)
def _find_partners(v, rows, marks):
    """Mark v and its partners, and put the partners into the row; return their number."""
    count = 0
    marks.marked[v] = 1
    if len(rows.bits) > 0:
        return _mark_bits(v, rows.bits[v], marks)
    for group in rows.groups[rows.places[v] : rows.places[v + 1]]:
        count = _mark_new(rows.members[rows.starts[group] : rows.starts[group + 1]], marks, count)
    return count


@njit(nogil=True, cache=True)
def _find_others(v, rows, marks, count):
    """Mark v's other neighbours too and append them to its `count` partners; return the row's new length."""
    return _mark_new(rows.neighbours[rows.offsets[v] : rows.offsets[v + 1]], marks, count)


@njit(nogil=True, cache=True)
def _clear(v, marks, count):
    """Remove the marks of v and of the first `count` vertices of the row."""
    marks.marked[v] = 0
    for w in marks.row[:count]:
        marks.marked[w] = 0


# --- The sizes of P̂ and Ĝ, and P̂ in parts


@njit(nogil=True, cache=True)
def count_rows(rows, first, last, edges_at, marks, pairs, degrees, inside):
    """Count the pairs of P̂ and the neighbours in Ĝ of the vertices first..last-1, and mark their edges that are in P̂.

    Args:
        rows: the arrays Ĝ is made from.
        first, last: the vertices v.
        edges_at: int64, n; where the graph's edges {v, w}, w > v, begin among all edges u < v, ascending by u, then v.
        marks: this thread's.
        pairs: int64, n; filled with the number of partners w > v of each v.
        degrees: int64, n; filled with the number of neighbours in Ĝ.
        inside: bool, m; filled with whether the edge is in P̂.
    """
    for v in range(first, last):
        partners = _find_partners(v, rows, marks)
        pairs[v] = 0
        for w in marks.row[:partners]:
            pairs[v] += w > v
        edge = edges_at[v]
        for w in rows.neighbours[rows.offsets[v] : rows.offsets[v + 1]]:
            if w > v:
                inside[edge] = marks.marked[w]
                edge += 1
        degrees[v] = _find_others(v, rows, marks, partners)
        _clear(v, marks, degrees[v])


@njit(nogil=True, cache=True)
def fill_pairs(rows, first, last, pairs_at, marks, sources, targets):
    """Put the pairs {v, w}, w > v, of P̂ with v in first..last-1 into two arrays, ascending by v, then w.

    Args:
        rows, marks: as in `count_rows`.
        first, last: the vertices v.
        pairs_at: int64, n + 1; the pairs of v go to pairs_at[v]..pairs_at[v + 1]-1, less `pairs_at[first]`.
        sources, targets: int64.
    """
    row = marks.row
    for v in range(first, last):
        partners = _find_partners(v, rows, marks)
        _clear(v, marks, partners)
        larger = 0
        for w in row[:partners]:
            if w > v:
                row[larger] = w
                larger += 1
        at = pairs_at[v] - pairs_at[first]
        sources[at : at + larger] = v
        targets[at : at + larger] = np.sort(row[:larger])


@njit(nogil=True, cache=True)
def fill_rows(rows, first, last, rows_at, edges_at, marks, neighbours, inside):
    """Put the rows of Ĝ of the vertices first..last-1 into `neighbours`, ascending, for a Ĝ small enough to hold.

    Args:
        rows, marks: as in `count_rows`.
        first, last: the vertices v.
        rows_at: int64, n + 1; the neighbours of v go to `neighbours[rows_at[v]:rows_at[v + 1]]`.
        edges_at: int64, n; as in `count_rows`, for the edges of Ĝ.
        neighbours: uint32.
        inside: bool; whether each edge of Ĝ is in P̂.
    """
    for v in range(first, last):
        partners = _find_partners(v, rows, marks)
        count = _find_others(v, rows, marks, partners)
        row = np.sort(marks.row[:count])
        neighbours[rows_at[v] : rows_at[v + 1]] = row
        for w in marks.row[partners:count]:
            marks.marked[w] = 0
        edge = edges_at[v]
        for w in row:
            if w > v:
                inside[edge] = marks.marked[w]
                edge += 1
        _clear(v, marks, count)
