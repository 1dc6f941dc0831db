"""Pairs of neighbours of one vertex: how often each pair is among them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import Graph

Integers = NDArray[np.int64]


class Asked(NamedTuple):
    """How many pairs are asked for once, twice and so on: int64, by that number; place 0 is not used."""

    connected: Integers
    others: Integers


def _codes(ends: Integers, lengths: Integers, most: int, n: int) -> Integers:
    """Each pair of the first `most` ends of each row as one number, once for each row that has it."""
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    within = np.arange(len(ends)) - np.repeat(offsets[:-1], lengths)
    kept = np.minimum(lengths, most)
    following = np.maximum(np.repeat(kept, lengths) - 1 - within, 0)
    starts = np.cumsum(following) - following
    second = np.arange(int(following.sum())) - np.repeat(starts - np.arange(len(ends)) - 1, following)
    return np.repeat(ends * n, following) + ends[second]


def asked_pairs(graph: Graph, ends: NDArray[np.uint32], lengths: Integers, most: int) -> Asked:
    """Count how often each pair is among the first `most` ends of a vertex.

    `ends` has the out-neighbours of each vertex in turn, ascending; `lengths` says how many each vertex has.
    """
    n = graph.vertex_count
    pairs, times = np.unique(_codes(ends.astype(np.int64), lengths, most, n), return_counts=True)
    codes = np.repeat(np.arange(n), graph.degrees) * n + graph.neighbours  # ascending, as rows and their ends are
    found = np.searchsorted(codes, pairs)
    connected = np.zeros(len(pairs), np.bool_)
    inside = found < len(codes)
    connected[inside] = codes[found[inside]] == pairs[inside]
    return Asked(np.bincount(times[connected], minlength=1), np.bincount(times[~connected], minlength=1))


def sum_of_squared_common(graph: Graph) -> int:
    """Return the sum of cn(x, y)² over all pairs of different vertices."""
    ends, lengths = graph.neighbours.astype(np.int64), graph.degrees.astype(np.int64)
    codes = _codes(ends, lengths, int(lengths.max(initial=0)), graph.vertex_count)
    codes.sort()
    steps = np.flatnonzero(np.diff(codes, prepend=-1, append=-1))
    return int((np.diff(steps) ** 2).sum())
