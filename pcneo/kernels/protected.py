"""Pairs of vertices inside groups, and the graph that has them all, one vertex at a time (GUARANTEE.md#critical).

A group is a set of vertices, and groups overlap. P̂ is the set of all pairs of vertices inside some group, and Ĝ is the
graph with all of them added. A vertex's row of Ĝ lists its *partners*, with whom it shares a group, and its other
neighbours. Rows are made when they are needed, from the groups of the vertex, so a pair counts once however many groups
it lies in. Only a *tile*, the rows of some vertices, is kept for longer.

Vertices come by falling degree in Ĝ, because pairs with many common neighbours have ends of high degree; `order` is
that order, and `rank` its inverse.
"""

import numpy as np
from numba import njit

from pcneo.kernels.instructions import lowest

__all__ = [
    "columns_of_tile",
    "count_rows",
    "fill_pairs",
    "fill_rows",
    "fill_tile",
    "most_shared",
    "raise_largest",
]


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
    """Mark the vertices whose bits are set, but v, and put them into the row; return their number."""
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
        marks: of this thread.
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


# --- For each vertex, the most common neighbours of a pair of P̂ that counts for it


@njit(nogil=True, cache=True)
def fill_tile(rows, order, start, first, last, degrees, largest, tile_at, marks, tile, opened):
    """Put rows of Ĝ, each with its own vertex added, into a tile: first the *open* vertices, then the others.

    A vertex is open in the row of b if a pair with b could still raise it: its `largest` is less than b's degree minus
    1, and b shares no more than that with any neighbour.

    Args:
        rows, marks: as in `count_rows`.
        order: int64, n; vertices by falling degree.
        start: the rank of the tile's first vertex.
        first, last: the tile's vertices to fill, counted from `start`.
        degrees: int64, n; in Ĝ.
        largest: int64, n; its state before the tile.
        tile_at: int64; the i-th row goes to `tile[tile_at[i]:tile_at[i + 1]]`, unless that is empty.
        tile: uint32.
        opened: int64; filled with where the open vertices of the i-th row end.
    """
    for i in range(first, last):
        front, back = tile_at[i], tile_at[i + 1]
        if front < back:
            b = order[start + i]
            count = _find_others(b, rows, marks, _find_partners(b, rows, marks))
            for j in range(count + 1):
                w = np.int64(marks.row[j]) if j < count else b
                if largest[w] < degrees[b] - 1:
                    tile[front] = w
                    front += 1
                else:
                    back -= 1
                    tile[back] = w
            _clear(b, marks, count)
        opened[i] = front


@njit(nogil=True, cache=True)
def _can_raise(opened, marked, largest, most):
    """Whether some open vertex is marked and still below `most`."""
    for w in opened:  # noqa: SIM110 - generators are not compiled
        if largest[w] < most and marked[w]:
            return True
    return False


@njit(nogil=True, cache=True)
def raise_largest(rows, order, rank, start, first, last, degrees, tile_at, tile, opened, settled, marks, largest):
    """Raise `largest` to the common neighbours of pairs of P̂ with one end in a tile and the other before it in order.

    A pair raises its ends and its common neighbours. It is skipped if none of these is open: they have all met pairs
    with at least as many common neighbours. Few pairs are left.

    Args:
        rows, order, start, degrees, tile_at, tile, opened: as in `fill_tile`, which filled the tile.
        rank: int64, n; the place of each vertex in `order`.
        first, last: ranks of the other ends, up to the tile's last.
        settled: bool, n; whether a vertex's row is needed no more, from this tile on; set here.
        marks: of this thread.
        largest: int64, n; of this thread.
    """
    most = degrees[order[start]] - 1
    for i in range(first, last):
        a = order[i]
        if settled[a]:
            continue
        partners = _find_partners(a, rows, marks)
        count = _find_others(a, rows, marks, partners)
        open_ = largest[a] < most
        for w in marks.row[:count]:
            open_ |= largest[w] < most
        settled[a] = not open_
        for b in marks.row[: partners if open_ else 0]:
            place = rank[b] - start
            if not (0 <= place < len(opened) and rank[b] > i):
                continue
            candidates = tile[tile_at[place] : opened[place]]
            if _can_raise(candidates, marks.marked, largest, degrees[b] - 1):
                common = -2  # both rows hold both ends
                for w in tile[tile_at[place] : tile_at[place + 1]]:
                    common += marks.marked[w]
                for w in candidates:
                    if largest[w] < common and marks.marked[w]:
                        largest[w] = common
        _clear(a, marks, count)


# --- The most common neighbours of any two vertices


@njit(nogil=True, cache=True)
def columns_of_tile(order, start, tile_at, tile, vertex_count):
    """Return for each vertex the rows of a tile that hold it, its own excepted.

    Args:
        order, start, tile_at, tile: as in `fill_tile`.
        vertex_count: n.

    Returns:
        columns_at: int64, n + 1.
        columns: uint32; the rows that hold v are `columns[columns_at[v]:columns_at[v + 1]]`, counted from the tile's
            first.
    """
    counts = np.zeros(vertex_count + 1, np.int64)
    for i in range(len(tile_at) - 1):
        for w in tile[tile_at[i] : tile_at[i + 1]]:
            counts[w + 1] += w != order[start + i]
    columns_at = np.cumsum(counts)
    filled = columns_at.copy()
    columns = np.empty(columns_at[-1], np.uint32)
    for i in range(len(tile_at) - 1):
        for w in tile[tile_at[i] : tile_at[i + 1]]:
            if w != order[start + i]:
                columns[filled[w]] = i
                filled[w] += 1
    return columns_at, columns


@njit(nogil=True, cache=True)
def most_shared(rows, order, start, first, last, columns_at, columns, marks, counts, met):
    """Return the most common neighbours in Ĝ of a vertex in a tile and a vertex before it in order.

    Args:
        rows, marks: as in `count_rows`.
        order, start: as in `fill_tile`.
        first, last: ranks of the vertices before, up to the tile's last.
        columns_at, columns: of the tile.
        counts: int64, one per vertex of the tile, all zero; of this thread.
        met: uint32, one per vertex of the tile; of this thread.
    """
    most = 0
    for i in range(first, last):
        count = _find_others(order[i], rows, marks, _find_partners(order[i], rows, marks))
        places = 0
        for w in marks.row[:count]:
            for at in range(columns_at[w + 1] - 1, columns_at[w] - 1, -1):
                place = columns[at]
                if start + place <= i:
                    break
                if counts[place] == 0:
                    met[places] = place
                    places += 1
                counts[place] += 1
        for place in met[:places]:
            most = max(most, counts[place])
            counts[place] = 0
        _clear(order[i], marks, count)
    return most
