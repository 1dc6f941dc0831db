"""What no program can avoid: bare loops that read once what an answer depends on, and do nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np


def wedges_read(graph: Any) -> Callable[[], int]:
    """Return a task that reads every wedge of the graph once, its edges turned towards the larger degree.

    A triangle is a closed wedge, so a program that finds triangles by wedges looks at each of them.
    """
    first, last = _turned(graph)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(first, minlength=graph.vertex_count))])
    _wedges(offsets, last)
    return lambda: _wedges(offsets, last)


def rows_read(graph: Any, members: Any) -> Callable[[], int]:
    """Return a task that reads the neighbours of each of some vertices once; a vertex may come more than once."""
    _rows(graph.offsets, graph.neighbours, members[:1])
    return lambda: _rows(graph.offsets, graph.neighbours, members)


def _turned(graph: Any) -> tuple[Any, Any]:
    """Each edge once, ascending by its first end: from the end of smaller degree to the other."""
    first = np.repeat(np.arange(graph.vertex_count), graph.degrees)
    last = graph.neighbours.astype(np.int64)
    here, there = graph.degrees[first], graph.degrees[last]
    kept = (here < there) | ((here == there) & (first < last))
    return first[kept], last[kept].astype(np.uint32)


@numba.njit(nogil=True)
def _wedges(offsets: Any, last: Any) -> int:
    total = np.uint32(0)
    for v in range(len(offsets) - 1):
        for i in range(offsets[v], offsets[v + 1]):
            for j in range(offsets[last[i]], offsets[last[i] + 1]):
                total ^= last[j]
    return int(total)


@numba.njit(nogil=True)
def _rows(offsets: Any, neighbours: Any, members: Any) -> int:
    total = np.uint32(0)
    for v in members:
        for j in range(offsets[v], offsets[v + 1]):
            total ^= np.uint32(neighbours[j])
    return int(total)
