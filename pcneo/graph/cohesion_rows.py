"""Stored cohesions as arrays over the graph that was read with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import CohesionBatch, Graph, Key, KeyArray
from pcneo.errors import GraphChangedError

__all__ = ["batch_from_rows"]


def batch_from_rows(
    graph: Graph, rows: Iterable[tuple[Key, Sequence[Key], int]], p: Fraction, score: str
) -> CohesionBatch:
    """Return stored cohesions as a batch over `graph`, vertices and members ascending.

    Args:
        graph: the graph.
        rows: (key of the vertex, keys of the members, number of edges), in any order.
        p, score: p and score of their run.

    Raises:
        GraphChangedError: a vertex or member is not in the graph.
    """
    vertices: list[Key] = []
    members: list[NDArray[np.uint32]] = []
    edges: list[int] = []
    for vertex, keys, count in rows:
        vertices.append(vertex)
        members.append(np.sort(_positions(graph.keys, keys)).astype(np.uint32))
        edges.append(count)
    owners = _positions(graph.keys, vertices)
    order = np.argsort(owners)
    return CohesionBatch(
        p=p,
        score=score,
        vertices=owners[order],
        offsets=np.concatenate([[0], np.cumsum([len(members[i]) for i in order], dtype=np.int64)]).astype(np.int64),
        members=np.concatenate([np.empty(0, np.uint32), *(members[i] for i in order)]),
        edges=np.array(edges, np.int64)[order],
        keys=graph.keys,
    )


def _positions(keys: KeyArray, wanted: Sequence[Key]) -> NDArray[np.int64]:
    if not all(isinstance(key, str if keys.dtype == object else int) for key in wanted):
        raise GraphChangedError("Stored cohesions name vertices without a usable key. Annotate the graph again.")
    wanted_keys = np.array(wanted, keys.dtype) if len(wanted) else np.empty(0, keys.dtype)
    places = np.searchsorted(keys, wanted_keys)
    inside = places < len(keys)
    if not inside.all() or not (keys[places] == wanted_keys).all():
        raise GraphChangedError(
            "Stored cohesions name vertices that the graph no longer has. Annotate it again.",
        )
    return places.astype(np.int64)
