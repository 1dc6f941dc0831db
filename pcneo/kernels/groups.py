"""Groups of vertices, arranged for the rows of Ĝ (`protected`): the groups of each vertex, or a bit for each partner.

Bits pay where groups are so large that most pairs lie in many of them.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray


class Rows(NamedTuple):
    """The arrays that rows of Ĝ are made from.

    Attributes:
        offsets, neighbours: the graph's rows, ascending.
        starts, members: the i-th group is `members[starts[i]:starts[i + 1]]`.
        places: int64, n + 1.
        groups: uint32; the groups of v are `groups[places[v]:places[v + 1]]`.
        bits: uint64, shape (n, words); bit w % 64 of `bits[v, w // 64]` is set if v and w share a group. Shape (0, 0)
            where partners are collected from the groups instead.
    """

    offsets: NDArray[np.int64]
    neighbours: NDArray[np.uint32]
    starts: NDArray[np.int64]
    members: NDArray[np.uint32]
    places: NDArray[np.int64]
    groups: NDArray[np.uint32]
    bits: NDArray[np.uint64]


class Marks(NamedTuple):
    """One thread's memory for one row of Ĝ at a time.

    Attributes:
        marked: uint8, n; 1 for the row's own vertex and for those in the row; all 0 between rows.
        row: uint32, n; the vertices in the row.
    """

    marked: NDArray[np.uint8]
    row: NDArray[np.uint32]


def marks_for(vertex_count: int) -> Marks:
    """Return fresh marks."""
    return Marks(np.zeros(vertex_count, np.uint8), np.empty(vertex_count, np.uint32))


@njit(nogil=True, cache=True)
def groups_of_vertices(starts, members, vertex_count):
    """Return the groups of each vertex, as rows.

    Args:
        starts, members: the i-th group is `members[starts[i]:starts[i + 1]]`.
        vertex_count: n.

    Returns:
        places: int64, n + 1.
        groups: uint32; the groups of v are `groups[places[v]:places[v + 1]]`.
        met: int64, n; members of all groups of v, each group counted by itself: what collecting v's partners costs.
    """
    counts, met = np.zeros(vertex_count + 1, np.int64), np.zeros(vertex_count, np.int64)
    for v in members:
        counts[v + 1] += 1
    places = np.cumsum(counts)
    filled = places.copy()
    groups = np.empty(len(members), np.uint32)
    for i in range(len(starts) - 1):
        for v in members[starts[i] : starts[i + 1]]:
            groups[filled[v]] = i
            filled[v] += 1
            met[v] += starts[i + 1] - starts[i]
    return places, groups, met


@njit(nogil=True, cache=True)
def fill_bits(starts, members, first, last, bits):
    """Set the bits of all groups, in the words first..last-1 of every row.

    Args:
        starts, members: as in `groups_of_vertices`.
        first, last: the words to fill.
        bits: uint64, shape (n, words); 0 in those words.
    """
    inside = np.zeros(last - first, np.uint64)
    for i in range(len(starts) - 1):
        group = members[starts[i] : starts[i + 1]]
        inside[:] = 0
        for w in group:
            word = np.int64(w >> 6)
            if first <= word < last:
                inside[word - first] |= np.uint64(1) << np.uint64(w & 63)
        for v in group:
            row = bits[v, first:last]
            for word in range(last - first):
                row[word] |= inside[word]
