"""Graphs from rows of neighbours, and from columns of edges."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, count, islice

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import Graph, Key
from pcneo.errors import ParameterError
from pcneo.graph.arrays import check_degrees, check_listing, compress, note_kinds, sort_keys

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
