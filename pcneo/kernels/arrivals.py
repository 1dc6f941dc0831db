"""A graph that arrives row by row: integer keys get numbers, and rows are appended."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pcneo.kernels.cohesion import DEGREE_BITS

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: neighbouring keys end up far apart


@njit(nogil=True, cache=True)
def number_keys(wanted, table, keys, known, numbers):
    """Number each key of `wanted`: new keys follow the `known` ones, in the order in which they come.

    A hash table with open addressing takes a fraction of the time of a dict.

    Args:
        wanted: int64.
        table: uint32; its length is a power of two above the number of keys at the end; a key's number plus 1, or 0.
        keys: int64, with room for all keys at the end; each key is at its number.
        known: how many keys have numbers.
        numbers: int64, as long as `wanted`; the result.

    Returns:
        How many keys have numbers at the end.
    """
    last = np.uint64(len(table) - 1)
    for i in range(len(wanted)):
        key = wanted[i]
        spread = np.uint64(key) * _SPREAD
        slot = (spread ^ spread >> np.uint64(32)) & last
        while table[slot] > 0 and keys[table[slot] - 1] != key:
            slot = (slot + np.uint64(1)) & last
        if table[slot] == 0:
            keys[known] = key
            known += 1
            table[slot] = known
        numbers[i] = table[slot] - 1
    return known


class Arrived(NamedTuple):
    """What has arrived of a graph; each array has room for more.

    Attributes:
        neighbours: uint32; the rows, one after the other, each in any order.
        places: int64, n; where the row of a vertex is, as `pcneo.kernels.cohesion.Rows` has it, or -1.
        unfetched: int32, n; for a vertex that has a row, how many of its neighbours have none.
        arriving: int32, n; the number of rows that a vertex is in.
        marks: uint64, n; random.
        named: uint64, n; the sum, modulo 2^64, of the marks of the vertices in whose rows a vertex is.
        seen: int32, n; the last row that a vertex came in, counted from 1.
    """

    neighbours: NDArray[np.uint32]
    places: NDArray[np.int64]
    unfetched: NDArray[np.int32]
    arriving: NDArray[np.int32]
    marks: NDArray[np.uint64]
    named: NDArray[np.uint64]
    seen: NDArray[np.int32]


@njit(nogil=True, cache=True)
def append_rows(arrived, rows, arcs, fresh, ends, listed):
    """Append the rows of `fresh` vertices without repeated neighbours or self-loops.

    When the row of a vertex arrives, the vertices that already name it must be exactly those of its neighbours that
    have rows: if both ends of an edge have rows, both must list it. The sets are compared by the sums of their marks.

    Args:
        arrived: has room for all that comes.
        rows, arcs: how many there are so far.
        fresh, ends, listed: int64; the row of the i-th is `listed[ends[i - 1] : ends[i]]`.

    Returns:
        The number of entries in all rows, the length of the longest fresh row, the most rows that any vertex in the
        fresh rows is in, and the first vertex whose two sets differ, or -1.
    """
    neighbours, places, unfetched, arriving, marks, named, seen = arrived
    longest, most, begin = np.int64(0), np.int64(0), np.int64(0)
    for i in range(len(fresh)):
        v, start, unknown, fetched = fresh[i], arcs, np.int64(0), np.uint64(0)
        seen[v] = rows + i + 1
        for k in range(begin, ends[i]):
            w = listed[k]
            if seen[w] == rows + i + 1:
                continue
            seen[w] = rows + i + 1
            neighbours[arcs] = w
            arcs += 1
            arriving[w] += 1
            most = max(most, np.int64(arriving[w]))
            named[w] += marks[v]
            if places[w] >= 0:
                unfetched[w] -= 1
                fetched += marks[w]
            else:
                unknown += 1
        begin = ends[i]
        if fetched != named[v]:
            return arcs, longest, most, v
        longest = max(longest, arcs - start)
        places[v] = start << DEGREE_BITS | (arcs - start)
        unfetched[v] = unknown
    return arcs, longest, most, np.int64(-1)
