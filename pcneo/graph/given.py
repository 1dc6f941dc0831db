"""A graph as a Python user has it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pcneo.basics.keys import key_text, plain_key
from pcneo.basics.model import Graph, Key
from pcneo.errors import NotFoundError
from pcneo.graph.build import graph_from_edges, graph_from_rows

if TYPE_CHECKING:
    import networkx


GivenGraph = Any
"""What `as_graph` takes. Frames and sparse matrices are known by what they can do, so no library is imported for it."""

WANTED = (
    "a graph is wanted: networkx's, a scipy.sparse matrix, a frame or list of edges, (keys, sources, targets), or "
    "pcneo.Graph"
)


def as_graph(graph: GivenGraph) -> Graph:
    """Return a graph as arrays, whatever it is given as; direction, repeated edges and self-loops do not count.

    >>> import pcneo
    >>> pcneo.as_graph([("Ann", "Bob"), ("Bob", "Cem")]).edge_count
    2

    Args:
        graph: a networkx graph, whose nodes are the keys; a square `scipy.sparse` matrix or array, in which an entry is
            an edge and positions are the keys; a frame of edges with the columns `source` and `target`, or with two
            columns; a list of pairs; or three sequences: every key, and both ends of each edge. Only the last, the
            matrix and networkx can have vertices without an edge. A `pcneo.Graph` stays as it is.

    Raises:
        TypeError: it is none of these.
        KeyPropertyError: a key is neither a 64-bit integer nor a string, kinds are mixed, or a key is there twice.
        GraphError: a vertex has more than 2,097,151 neighbours.
    """
    if isinstance(graph, Graph):
        return graph
    if hasattr(graph, "adjacency"):
        return graph_from_networkx(graph)
    if hasattr(graph, "tocoo"):
        return _from_matrix(graph)
    if hasattr(graph, "columns"):
        return _from_columns(graph)
    if isinstance(graph, tuple) and len(graph) == 3 and all(map(_is_column, graph)):
        keys, sources, targets = (list(map(plain_key, column)) for column in graph)
        return graph_from_edges(keys, sources, targets)
    if isinstance(graph, Sequence) and not isinstance(graph, str | bytes):
        return _from_pairs(graph)
    raise TypeError(f"{WANTED}; not {type(graph).__name__}")


def graph_from_networkx(graph: networkx.Graph[Any]) -> Graph:
    """Return a networkx graph of any kind; its nodes are the keys."""
    if not hasattr(graph, "adjacency"):
        raise TypeError(f"a networkx graph is needed, not {type(graph).__name__}")
    return graph_from_rows((plain_key(vertex), list(map(plain_key, row))) for vertex, row in graph.adjacency())


def positions_of(graph: Graph, keys: Iterable[Key]) -> list[int]:
    """Return the positions of vertices that are given by key."""
    place = {key: i for i, key in enumerate(graph.keys.tolist())}
    keys = list(keys)
    for key in keys:
        if key not in place:
            kind = "integers" if graph.keys.dtype == np.int64 else "text"
            is_other = len(place) > 0 and isinstance(key, str) != (kind == "text")
            other = f"; keys of this graph are {kind}" if is_other else ""
            raise NotFoundError(f"There is no vertex {key_text(key)} in the graph{other}.", what="vertex", name=key)
    return [place[key] for key in keys]


def _is_column(column: object) -> bool:
    return isinstance(column, Iterable) and not isinstance(column, str | bytes)


def _from_matrix(matrix: Any) -> Graph:
    if matrix.shape[0] != matrix.shape[1]:
        raise TypeError(f"{WANTED}; not a matrix of {matrix.shape[0]} rows and {matrix.shape[1]} columns")
    entries = matrix.tocoo()
    is_edge = entries.data != 0
    rows, columns = entries.row[is_edge], entries.col[is_edge]
    return graph_from_edges(range(matrix.shape[0]), rows.tolist(), columns.tolist())


def _from_columns(frame: Any) -> Graph:
    names = list(frame.columns)
    ends = ["source", "target"] if {"source", "target"} <= set(names) else names
    if len(ends) != 2:
        raise TypeError(f"{WANTED}; this frame has neither the columns source and target nor two alone: {names}")
    return _from_ends(*(list(map(plain_key, frame[name])) for name in ends))


def _from_pairs(pairs: Sequence[Any]) -> Graph:
    for pair in pairs:
        if isinstance(pair, str | bytes) or not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
            raise TypeError(f"{WANTED}; an edge of a list is a pair of keys, not {pair!r}")
    return _from_ends([plain_key(a) for a, _ in pairs], [plain_key(b) for _, b in pairs])


def _from_ends(sources: list[Any], targets: list[Any]) -> Graph:
    try:
        keys = list(dict.fromkeys([*sources, *targets]))
    except TypeError as error:
        raise TypeError(f"{WANTED}; a key is an integer or text") from error
    return graph_from_edges(keys, sources, targets)
