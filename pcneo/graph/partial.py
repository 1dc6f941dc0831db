"""A graph that is being fetched."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from pcneo.errors import GraphChangedError, KeyPropertyError
from pcneo.graph.arrays import check_degrees, compress, note_kinds, sort_keys
from pcneo.model import Graph, Key

__all__ = ["PartialGraph"]


class PartialGraph:
    """The vertices whose neighbours have been fetched so far, and those that are known by name alone."""

    def __init__(self) -> None:
        """Start with nothing known."""
        self._numbers: defaultdict[Key, int] = defaultdict(count().__next__)  # of each key, by first appearance
        self._kinds: dict[type, Key] = {}
        self._fetched: set[Key] = set()
        self._sources, self._lengths, self._targets = array("q"), array("q"), array("q")

    @property
    def arc_count(self) -> int:
        """How many neighbours have been fetched, each vertex's counted by itself."""
        return len(self._targets)

    def __contains__(self, key: Key) -> bool:
        """Whether the neighbours of a vertex have been fetched."""
        return key in self._fetched

    def add(self, rows: Iterable[tuple[Key, Sequence[Key]]]) -> None:
        """Take whole neighbourhoods of vertices not fetched before.

        Raises:
            KeyPropertyError: a key is neither an integer nor a string, kinds are mixed, or a key comes a second time.
        """
        for key, neighbours in rows:
            note_kinds(self._kinds, (key, *neighbours))
            if key in self._fetched:
                raise KeyPropertyError(
                    f"The key {key!r} belongs to more than one vertex; choose a key property that is unique.",
                    count=1,
                    example=key,
                )
            self._fetched.add(key)
            self._sources.append(self._numbers[key])
            self._lengths.append(len(neighbours))
            self._targets.extend(map(self._numbers.__getitem__, neighbours))

    def graph(self) -> tuple[Graph, NDArray[np.bool_]]:
        """Return what is known as a graph, and which of its vertices have been fetched; the others have no neighbours.

        Raises:
            KeyPropertyError: an integer does not fit 64 bits.
            GraphChangedError: of two vertices that have been fetched, one alone has the other as its neighbour.
            GraphError: a vertex has more than 2,097,151 neighbours.
        """
        keys, position = sort_keys(list(self._numbers))
        vertices = position[np.asarray(self._sources)]
        arcs = np.repeat(vertices, np.asarray(self._lengths)), position[np.asarray(self._targets)]
        graph = Graph(keys, *compress(*arcs, len(keys)))
        fetched = np.zeros(len(keys), np.bool_)
        fetched[vertices] = True
        check_degrees(graph)
        _check_symmetry(graph, fetched)
        return graph, fetched


def _check_symmetry(graph: Graph, fetched: NDArray[np.bool_]) -> None:
    """Refuse rows of two states of the graph; the kernel relies on either end of an edge listing the other."""
    sources, targets = np.repeat(np.arange(graph.vertex_count), graph.degrees), graph.neighbours.astype(np.int64)
    between = fetched[targets]
    arcs = sources[between] << 32 | targets[between]
    reverse = np.sort(targets[between] << 32 | sources[between])
    if not np.array_equal(arcs, reverse):
        arc = int(np.setxor1d(arcs, reverse)[0])
        a, b = graph.keys[[arc >> 32, arc & 0xFFFFFFFF]].tolist()
        raise GraphChangedError(
            f"Only one of {a!r} and {b!r} had the other as a neighbour when it was read: "
            "the graph changed in between. Ask again.",
            pair=(a, b),
        )
