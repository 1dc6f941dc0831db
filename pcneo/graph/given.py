"""The forms in which a Python user may have a graph."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from pcneo.basics.frames import words
from pcneo.basics.keys import key_meant, keys_or_all, of_other_kind, plain_key
from pcneo.basics.model import Graph, Key
from pcneo.errors import KeyPropertyError, NotFoundError
from pcneo.graph.arrays import graph_from_edges, graph_from_rows

if TYPE_CHECKING:
    import networkx


log = logging.getLogger("pcneo")

GivenGraph = Any
"""What `as_graph` takes. Frames and sparse matrices are recognised by what they can do, so no library is imported."""

_MISSING = ("nan", "None", "<NA>", "NaT")
"""The missing values of pandas and others, as text; some of them cannot be compared with anything."""

WANTED = (
    "Pass a graph: a networkx graph, a scipy.sparse matrix, a data frame or list of edges, (keys, sources, targets) or "
    "a pcneo.Graph."
)


def as_graph(graph: GivenGraph) -> Graph:
    """Return a graph as arrays, in whatever form it is given; direction, repeated edges and self-loops are ignored.

    >>> import pcneo
    >>> pcneo.as_graph([("Ann", "Bob"), ("Bob", "Cem")]).edge_count
    2

    Args:
        graph: a networkx graph, whose nodes are the keys; a square `scipy.sparse` matrix or array, whose entries are
            edges and whose positions are the keys; a frame of edges with the columns `source` and `target`, or with
            only two columns; a list of pairs; or three sequences: all keys, and the two ends of each edge. Only the
            last, the matrix and networkx can have vertices without an edge. A `pcneo.Graph` is returned as it is.

    Raises:
        TypeError: `graph` is none of these.
        KeyPropertyError: a key is neither a 64-bit integer nor a string, the kinds are mixed, or a key appears twice.
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
    if isinstance(graph, tuple) and len(graph) == 3 and all(map(_is_column, graph)) and not all(map(_is_pair, graph)):
        keys, sources, targets = (list(map(plain_key, column)) for column in graph)
        return graph_from_edges(keys, sources, targets)
    if isinstance(graph, Sequence) and not isinstance(graph, str | bytes):
        return _from_pairs(graph)
    raise TypeError(f"{WANTED} This is {_what_it_is(graph)}.")


def _what_it_is(graph: object) -> str:
    """Describe what was given in place of a graph, with advice."""
    if isinstance(graph, str | PathLike):
        return f"a {type(graph).__name__}; to read a file use networkx.read_edgelist or db.load"
    if hasattr(graph, "annotate"):
        return 'a graph in a database, which has its own methods, such as .stats(["0.1", "0.3"])'
    if isinstance(graph, np.ndarray):
        if graph.ndim == 2 and graph.shape[1] == 2 and len(graph) != 2:
            return "a NumPy array with two columns; if each row is an edge, pass array.tolist()"
        return "a NumPy array; wrap it in scipy.sparse.csr_array(...) if it is a matrix, or pass a list of pairs"
    return f"of type {type(graph).__name__}"


def graph_from_networkx(graph: networkx.Graph[Any]) -> Graph:
    """Return a networkx graph of any kind as arrays; its nodes are the keys."""
    if not hasattr(graph, "adjacency"):
        raise TypeError(f"expected a networkx graph, not {type(graph).__name__}")
    return graph_from_rows((plain_key(vertex), list(map(plain_key, row))) for vertex, row in graph.adjacency())


def places_in(graph: Graph) -> dict[Key, int]:
    """Return the position of each vertex by its key."""
    return {key: place for place, key in enumerate(graph.keys.tolist())}


def positions_of(graph: Graph, vertices: Key | Iterable[Key] | None) -> list[int] | None:
    """Return the positions of one vertex or several, given by key; None for every vertex, as it is."""
    keys = keys_or_all(vertices)
    if keys is None:
        return None
    places = places_in(graph)
    for key in keys:
        check_is_vertex(key, places)
    return [places[key] for key in keys]


def check_is_vertex(key: Key, known: Collection[Key]) -> None:
    """Refuse a key that the graph does not have, and suggest the one that may be meant."""
    if key in known:
        return
    meant = key_meant(key, known)
    is_other = any(isinstance(key, str) != isinstance(one, str) for one in islice(known, 1))
    other = of_other_kind(key) if is_other and not meant else ""
    raise NotFoundError(f"There is no vertex {key!r} in the graph{other}.{meant}", what="vertex", name=key)


def _is_column(column: object) -> bool:
    return isinstance(column, Iterable) and not isinstance(column, str | bytes)


def _is_pair(column: object) -> bool:
    """Whether it is an edge: three of them in a tuple are a list of edges, as more or fewer are."""
    return isinstance(column, tuple) and len(column) == 2


def _from_matrix(matrix: Any) -> Graph:
    if matrix.shape[0] != matrix.shape[1]:
        raise TypeError(f"{WANTED} This matrix has {matrix.shape[0]} rows and {matrix.shape[1]} columns.")
    entries = matrix.tocoo()
    is_edge = entries.data != 0
    rows, columns = entries.row[is_edge], entries.col[is_edge]
    return graph_from_edges(range(matrix.shape[0]), rows.tolist(), columns.tolist())


def _from_columns(frame: Any) -> Graph:
    if callable(getattr(type(frame), "collect", None)):  # of polars
        raise TypeError(f"{WANTED} This frame is lazy: pass frame.collect().")
    names = list(frame.columns)
    if len(names) == 2 and all(isinstance(name, str) and name.isdigit() for name in names):
        log.warning(
            "The columns of this frame are named %r and %r, like two keys. If the file has no header, read it with "
            "header=None, in polars has_header=False.",
            *names,
        )
    if len(names) > 2 and names != [*range(len(names))] and names == list(getattr(frame, "index", ())):
        raise TypeError(f"{WANTED} This frame looks like a matrix: pass nx.from_pandas_adjacency(frame).")
    ends = ["source", "target"] if {"source", "target"} <= set(names) else names
    if len(ends) != 2:
        choose = " Select the two that hold the ends: frame[[ONE, OTHER]]." if len(names) > 2 else ""
        has = f"This frame has neither the columns source and target nor just two columns: {words(names, 6)}."
        raise TypeError(f"{WANTED} {has}{choose}")
    if repeated := [name for name in dict.fromkeys(ends) if names.count(name) > 1]:  # each stands for several columns
        raise TypeError(f"{WANTED} This frame has several columns of the same name: {words(repeated)}.")
    columns = [list(map(plain_key, frame[name])) for name in ends]
    for name, column in zip(ends, columns, strict=True):
        _check_none_is_missing(
            name,
            column,
            f"of the frame, counting from 0, has no {name!r}. Leave out such rows, in pandas with "
            "frame.dropna().astype(int) if the keys are integers.",
        )
    return _from_ends(*columns)


def _check_none_is_missing(name: object, column: list[Any], why: str) -> None:
    """Refuse a column with a missing key; `why` goes on after the row's number."""
    for row, key in enumerate(column):
        if not isinstance(key, int | str) and str(key) in _MISSING:
            raise KeyPropertyError(f"Row {row} {why}", row=row, column=name)


def _from_pairs(pairs: Sequence[Any]) -> Graph:
    for pair in pairs:
        if isinstance(pair, str | bytes) or not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
            more = isinstance(pair, tuple | list) and len(pair) > 2
            remedy = " Leave out what follows the two keys: [edge[:2] for edge in edges]." if more else ""
            raise TypeError(f"{WANTED} Each edge in a list must be a pair of keys, not {pair!r}.{remedy}")
    columns = [[plain_key(pair[end]) for pair in pairs] for end in (0, 1)]
    for end, column in zip(("first", "second"), columns, strict=True):
        _check_none_is_missing(
            end, column, f"of the list, counting from 0, has no {end} key. Leave out such rows, or give them a key."
        )
    return _from_ends(*columns)


def _from_ends(sources: list[Any], targets: list[Any]) -> Graph:
    try:
        keys = list(dict.fromkeys([*sources, *targets]))
    except TypeError as error:
        raise TypeError(f"{WANTED} A key is an integer or text.") from error
    return graph_from_edges(keys, sources, targets)
