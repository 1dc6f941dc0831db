"""A graph that is fetched neighbourhood by neighbourhood."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import cast

import numpy as np
from numpy.typing import NDArray

from pcneo.errors import GraphChangedError, KeyPropertyError
from pcneo.graph.arrays import check_degrees, key_array, note_kinds, sort_arcs
from pcneo.model import Graph, Key, KeyArray

__all__ = ["PartialGraph"]

_LOW = 0xFFFFFFFF


class PartialGraph:
    """The vertices whose neighbours have been fetched so far, and those of which only the key is known.

    Every fetch is merged into sorted arrays: sorting everything again at every fetch took most of a search's time.
    """

    def __init__(self) -> None:
        """Start with nothing known."""
        self._kinds: dict[type, Key] = {}
        self._fetched: set[Key] = set()
        self._keys: KeyArray = np.empty(0, np.int64)  # ascending; positions are places in this array
        self._is_fetched = np.empty(0, np.bool_)  # by position
        self._arcs = np.empty(0, np.int64)  # source << 32 | target, by position, ascending

    @property
    def arc_count(self) -> int:
        """The number of arcs fetched: an edge whose ends have both been fetched counts twice."""
        return len(self._arcs)

    def __contains__(self, key: Key) -> bool:
        """Whether the neighbours of a vertex have been fetched."""
        return key in self._fetched

    def add(self, rows: Iterable[tuple[Key, Sequence[Key]]]) -> None:
        """Add the neighbourhoods of vertices that have not been fetched before.

        Args:
            rows: (key, keys of all neighbours).

        Raises:
            KeyPropertyError: a key is neither a 64-bit integer nor a string, kinds are mixed, or a key comes twice.
            GraphChangedError: of two fetched vertices, only one has the other as its neighbour.
        """
        names: list[Key] = []
        lists: list[Sequence[Key]] = []
        for key, neighbours in rows:
            if key in self._fetched:
                raise KeyPropertyError(
                    f"The key {key!r} belongs to more than one vertex; choose a key property that is unique.",
                    count=1,
                    example=key,
                )
            self._fetched.add(key)
            names.append(key)
            lists.append(neighbours)
        if not names:
            return
        every = [*names, *chain.from_iterable(lists)]
        note_kinds(self._kinds, every)
        keys, places = np.unique(key_array(every), return_inverse=True)
        places = self._enter(cast("KeyArray", keys))[places]
        fresh, targets = places[: len(names)], places[len(names) :]
        self._is_fetched[fresh] = True
        sources = np.repeat(fresh, list(map(len, lists)))
        arcs = sort_arcs(sources, targets)
        self._arcs = np.insert(self._arcs, np.searchsorted(self._arcs, arcs), arcs)
        self._check_symmetry(fresh, arcs)

    def graph(self) -> tuple[Graph, NDArray[np.bool_]]:
        """Return the known part as a graph, and which of its vertices have been fetched; the others have no neighbours.

        Raises:
            GraphError: a vertex has more than 2,097,151 neighbours.
        """
        offsets = np.zeros(len(self._keys) + 1, np.int64)
        np.cumsum(np.bincount(self._arcs >> 32, minlength=len(self._keys)), out=offsets[1:])
        graph = Graph(self._keys, offsets, self._arcs.astype(np.uint32))
        check_degrees(graph)
        return graph, self._is_fetched

    def _enter(self, keys: KeyArray) -> NDArray[np.int64]:
        """Add ascending keys, and return their positions.

        New keys in between move earlier ones up; their order stays.
        """
        if not len(self._keys):
            self._keys, self._is_fetched = keys, np.zeros(len(keys), np.bool_)
            return np.arange(len(keys))
        places = np.searchsorted(self._keys, keys)
        is_new = self._keys[np.minimum(places, len(self._keys) - 1)] != keys
        new, before = keys[is_new], places[is_new]
        n = len(self._keys)
        moved = np.arange(n) + np.cumsum(np.bincount(before, minlength=n)[:n])
        self._keys = cast("KeyArray", np.insert(self._keys, before, new))
        self._is_fetched = np.insert(self._is_fetched, before, False)
        self._arcs = moved[self._arcs >> 32] << 32 | moved[self._arcs & _LOW]
        return places + np.cumsum(is_new) - is_new

    def _check_symmetry(self, fresh: NDArray[np.int64], arcs: NDArray[np.int64]) -> None:
        """Refuse rows from two states of the graph: the kernel relies on both ends of an edge listing each other.

        Args:
            fresh: the vertices just fetched.
            arcs: all arcs that leave them.
        """
        is_fresh = np.zeros(len(self._keys), np.bool_)
        is_fresh[fresh] = True
        leaving = arcs[self._is_fetched[arcs & _LOW]]
        arriving = self._arcs[is_fresh[self._arcs & _LOW]]  # only the fetched have arcs
        reverse = np.sort((arriving & _LOW) << 32 | arriving >> 32)
        if not np.array_equal(leaving, reverse):
            arc = int(np.setxor1d(leaving, reverse)[0])
            a, b = self._keys[sorted((arc >> 32, arc & _LOW))].tolist()
            raise GraphChangedError(
                f"Only one of {a!r} and {b!r} had the other as a neighbour when it was read: "
                "the graph changed in between. Ask again.",
                pair=(a, b),
            )
