"""Graphs as checked arrays, from rows of neighbours and from columns of edges."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, count, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.frames import counted
from pcneo.basics.keys import INT64
from pcneo.basics.model import Graph, Key, KeyArray
from pcneo.errors import GraphError, KeyPropertyError, ParameterError
from pcneo.kernels.cohesion import MAX_DEGREE

_ROWS_AT_ONCE = 4096


def graph_from_rows(rows: Iterable[tuple[Key, Sequence[Key]]]) -> Graph:
    """Build a graph from a stream of rows; a few thousand rows are held at a time."""
    numbers: defaultdict[Key, int] = defaultdict(count().__next__)  # keys are numbered as they first appear
    listed, lengths, neighbours = array("q"), array("q"), array("q")
    kinds: dict[type, Key] = {}
    rows = iter(rows)
    while batch := list(islice(rows, _ROWS_AT_ONCE)):
        keys, lists = zip(*batch, strict=True)
        note_kinds(kinds, keys, *lists)
        listed.extend(map(numbers.__getitem__, keys))
        lengths.extend(map(len, lists))
        neighbours.extend(map(numbers.__getitem__, chain.from_iterable(lists)))
    sources = np.asarray(listed)
    return _build(list(numbers), sources, np.repeat(sources, np.asarray(lengths)), np.asarray(neighbours))


def graph_from_edges(keys: Iterable[Key], sources: Iterable[Key], targets: Iterable[Key]) -> Graph:
    """Build a graph from its vertices and the ends of its edges, in two columns of equal length."""
    names, tails, heads = _plain(keys), _plain(sources), _plain(targets)
    if len(tails) != len(heads):
        raise ParameterError(
            f"sources and targets must be of equal length, not {len(tails)} and {len(heads)}.",
            name="targets",
            value=len(heads),
        )
    note_kinds({}, names, tails, heads)
    numbers: defaultdict[Key, int] = defaultdict(count().__next__)
    listed = np.fromiter(map(numbers.__getitem__, names), np.int64, len(names))
    ends = np.fromiter(map(numbers.__getitem__, chain(tails, heads)), np.int64, 2 * len(tails))
    return _build(list(numbers), listed, ends[: len(tails)], ends[len(tails) :])


def _plain(keys: Iterable[Key]) -> list[Key]:
    """Return keys as Python integers and strings."""
    return keys.tolist() if isinstance(keys, np.ndarray) else list(keys)


def _build(
    names: list[Key], listed: NDArray[np.int64], sources: NDArray[np.int64], targets: NDArray[np.int64]
) -> Graph:
    """Build a graph from all keys (`names`), and the listed vertices and the ends of edges as places in `names`."""
    check_listing(names, listed)
    keys, position = sort_keys(names)
    a, b = position[sources], position[targets]
    graph = Graph(keys, *compress(np.concatenate((a, b)), np.concatenate((b, a)), len(names)))
    check_degrees(graph)
    return graph


def note_kinds(kinds: dict[type, Key], *columns: Sequence[Key]) -> None:
    """Record the kinds of keys in `columns`, an example of each; refuse anything but all integers or all strings."""
    for column in columns:
        if not kinds.keys() >= set(map(type, column)):  # twice as fast as collecting examples right away
            kinds |= {type(key): key for key in column}
    for kind, example in kinds.items():
        if kind not in (int, str):
            advice = "in networkx: nx.convert_node_labels_to_integers(G)"
            if isinstance(example, float) and example.is_integer():
                advice = "if all are whole numbers: nx.relabel_nodes(G, int), in pandas frame.astype(int)"
            raise KeyPropertyError(
                f"The key {example!r} is of type {kind.__name__}; keys must be integers or strings ({advice}).",
                kind=kind.__name__,
                example=example,
            )
    if len(kinds) > 1:
        raise KeyPropertyError(
            f"Keys are of two kinds, such as the integer {kinds[int]!r} and the string {kinds[str]!r}; "
            "make all of them integers, or all strings (in networkx: nx.relabel_nodes(G, str); in pandas: "
            "frame.astype(str)).",
            examples=(kinds[int], kinds[str]),
        )


def check_listing(names: list[Key], listed: NDArray[np.int64]) -> None:
    """Refuse a vertex that is listed more than once, and a neighbour that is never listed."""
    times = np.bincount(listed, minlength=len(names))
    if repeated := [names[i] for i in np.flatnonzero(times > 1)]:
        raise KeyPropertyError(
            f"{counted(len(repeated), 'key is', 'keys are')} shared by several vertices, for example {repeated[0]!r}. "
            "Choose a key property that is unique.",
            repeated=len(repeated),
            example=repeated[0],
        )
    if unlisted := [names[i] for i in np.flatnonzero(times == 0)]:
        raise KeyPropertyError(
            f"{counted(len(unlisted), 'neighbour is', 'neighbours are')} not among the vertices, for example "
            f"{unlisted[0]!r}; both ends of every edge must be vertices of the graph.",
            count=len(unlisted),
            example=unlisted[0],
        )


def sort_keys(names: list[Key]) -> tuple[KeyArray, NDArray[np.int64]]:
    """Return distinct keys of one kind in ascending order, and the place of each of `names` in that order."""
    keys = key_array(names)
    by_key = np.argsort(keys)
    position = np.empty(len(names), np.int64)
    position[by_key] = np.arange(len(names))
    return keys[by_key], position


def key_array(names: list[Key]) -> KeyArray:
    """Return keys of one kind as an array: int64, or str in an object array."""
    if names and isinstance(names[0], str):
        return np.array(names, np.object_)
    try:
        return np.array(names, np.int64)
    except OverflowError:
        example = next(key for key in names if int(key) not in INT64)
        raise KeyPropertyError(f"The key {example} does not fit in a signed 64-bit integer.", example=example) from None


def places_in(keys: KeyArray, wanted: NDArray[Any]) -> NDArray[np.int64]:
    """Return the position of each of the wanted keys, which are of the same kind, in `keys`; -1 for one not there."""
    places = np.searchsorted(keys, wanted)
    there = places < len(keys)
    there[there] = keys[places[there]] == wanted[there]
    return np.where(there, places, -1)


def sort_arcs(sources: NDArray[np.int64], targets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return arcs as source << 32 | target, ascending and distinct, without self-loops."""
    arcs = (sources << 32 | targets)[sources != targets]
    arcs.sort()
    return arcs[np.diff(arcs, prepend=-1) != 0]


def compress(
    sources: NDArray[np.int64], targets: NDArray[np.int64], vertex_count: int
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return the offsets and neighbours of a `Graph` from its arcs, without repeated arcs or self-loops."""
    arcs = sort_arcs(sources, targets)
    offsets = np.zeros(vertex_count + 1, np.int64)
    np.cumsum(np.bincount(arcs >> 32, minlength=vertex_count), out=offsets[1:])
    return offsets, arcs.astype(np.uint32)


def check_degrees(graph: Graph) -> None:
    """Refuse a vertex whose degree cubed does not fit in 64 bits (ALGORITHM.md#scores)."""
    check_degree(int(graph.degrees.max(initial=0)), lambda: graph.keys[[int(graph.degrees.argmax())]].tolist()[0])


def check_degree(largest: int, vertex: Callable[[], Key]) -> None:
    """Refuse the largest degree, that of `vertex()`, if it is too large."""
    if largest > MAX_DEGREE:
        raise GraphError(
            f"Vertex {vertex()!r} has {largest:,} neighbours; at most {MAX_DEGREE:,} are supported.",
            vertex=vertex(),
            degree=largest,
        )
