"""Stored cohesions as arrays over the graph that was read with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import CohesionBatch, Graph, Key, KeyArray
from pcneo.basics.searches import Search
from pcneo.errors import GraphChangedError
from pcneo.graph.arrays import places_in

ROWS_AT_ONCE = 1_000
"""How many cohesions have their members looked up together."""


def batch_from_rows(
    graph: Graph, rows: Iterable[tuple[Key, Sequence[Key | None], int, bool, bool]], search: Search
) -> CohesionBatch:
    """Return stored cohesions as a batch over `graph`, with vertices and members ascending."""
    vertices: list[Key] = []
    edges: list[int] = []
    proven: list[bool] = []
    best: list[bool] = []
    members: list[NDArray[np.uint32]] = []
    waiting: list[Sequence[Key | None]] = []
    for vertex, keys, count, smallest, first in rows:
        vertices.append(vertex)
        edges.append(count)
        proven.append(smallest)
        best.append(first)
        waiting.append(keys)
        if len(waiting) == ROWS_AT_ONCE:
            members += _members(graph.keys, waiting)
            waiting = []
    members += _members(graph.keys, waiting)
    owners = _positions(graph.keys, vertices)
    order = np.argsort(owners)
    return CohesionBatch(
        search=search,
        vertices=owners[order],
        offsets=np.concatenate([[0], np.cumsum([len(members[i]) for i in order], dtype=np.int64)]).astype(np.int64),
        members=np.concatenate([np.empty(0, np.uint32), *(members[i] for i in order)]),
        edges=np.array(edges, np.int64)[order],
        keys=graph.keys,
        proven=np.array(proven, np.bool_)[order],
        best=np.array(best, np.bool_)[order],
    )


def _members(keys: KeyArray, rows: Sequence[Sequence[Key | None]]) -> list[NDArray[np.uint32]]:
    """Return the positions of each row's members, ascending; rows take far less time together than one by one."""
    positions = _positions(keys, [key for row in rows for key in row])
    sizes = np.fromiter(map(len, rows), np.int64, len(rows))
    numbers = np.repeat(np.arange(len(rows)), sizes) * len(keys) + positions
    numbers.sort()
    return np.split((numbers % max(1, len(keys))).astype(np.uint32), np.cumsum(sizes)[:-1]) if len(rows) else []


def _positions(keys: KeyArray, wanted: Sequence[Key | None]) -> NDArray[np.int64]:
    if not set(map(type, wanted)) <= {str if keys.dtype == object else int}:
        raise GraphChangedError("Stored cohesions name vertices without a usable key. Annotate the graph again.")
    wanted_keys = np.array(wanted, keys.dtype) if len(wanted) else np.empty(0, keys.dtype)
    positions = places_in(keys, wanted_keys)
    if (positions < 0).any():
        raise GraphChangedError("Stored cohesions name vertices that the graph no longer has. Annotate it again.")
    return positions
