"""A graph that is fetched neighbourhood by neighbourhood."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import Graph, Key
from pcneo.errors import GraphChangedError, KeyPropertyError
from pcneo.graph.arrays import check_degree, key_array, note_kinds, sort_arcs, sort_keys
from pcneo.kernels.arrivals import Arrived, append_rows, number_keys
from pcneo.kernels.cohesion import MAX_DEGREE


class Numbering:
    """Keys, all integers or all strings, numbered as they come."""

    def __init__(self) -> None:
        """Start with no keys."""
        self._count = 0
        self._table = np.zeros(64, np.uint32)  # of integer keys: the kernel fills this and the next
        self._integers = np.empty(0, np.int64)
        self._strings: defaultdict[Key, int] = defaultdict(count().__next__)
        self._names: list[Key] = []  # the strings by number
        self._in_order: list[Key] = []  # the strings that have ranks, ascending
        self._ranks = np.empty(0, np.int64)

    def __len__(self) -> int:
        """Return how many keys have numbers."""
        return self._count

    def add(self, rows: Sequence[Sequence[Key]]) -> NDArray[np.int64]:
        """Return the number of each key in the rows, row after row; keys without a number get new ones."""
        # Rows are not joined first: a search has hundreds of thousands of keys, and every pass over them counts.
        keys, total = chain.from_iterable(rows), sum(map(len, rows))
        if isinstance(rows[0][0], str):
            numbers = np.fromiter(map(self._strings.__getitem__, keys), np.int64, total)
            self._names.extend(list(self._strings)[self._count :])
            self._count = len(self._strings)
            return numbers
        try:
            wanted = np.fromiter(keys, np.int64, total)
        except OverflowError:
            wanted = key_array(list(chain.from_iterable(rows)))  # raises an error that names the key
        most = self._count + total
        if most > len(self._integers):
            self._integers = np.append(self._integers, np.empty(2 * most - len(self._integers), np.int64))
        if 2 * most > len(self._table):
            self._table = np.zeros(1 << (4 * most).bit_length(), np.uint32)
            known = self._integers[: self._count].copy()
            number_keys(known, self._table, self._integers, 0, np.empty(len(known), np.int64))
        numbers = np.empty(total, np.int64)
        self._count = number_keys(wanted, self._table, self._integers, self._count, numbers)
        return numbers

    def keys(self, numbers: NDArray[np.integer[Any]]) -> list[Key]:
        """Return the keys that have these numbers."""
        if self._names:
            return [self._names[number] for number in numbers.tolist()]
        return self._integers[numbers].tolist()

    def ranks(self, keys: Collection[Key]) -> NDArray[np.int64]:
        """Return ranks by number: they ascend with `keys`, and an integer is its own. Later calls may add keys."""
        if not self._names:
            return self._integers
        if len(keys) > len(self._in_order):
            self._in_order.extend(list(keys)[len(self._in_order) :])
            self._in_order.sort()  # merges runs that are in order
            self._ranks = np.zeros(self._count, np.int64)
            self._ranks[list(map(self._strings.__getitem__, self._in_order))] = np.arange(len(self._in_order))
        return self._ranks


class PartialGraph:
    """The vertices whose neighbours have been fetched so far, and those of which only the key is known.

    Vertices are numbered by arrival and rows are appended, so that nothing known moves when more is fetched. Arrays
    have room for more vertices and arcs than are known.

    Attributes:
        row_count: rows fetched.
        arc_count: entries of all rows: an edge whose ends have both been fetched counts twice.
        largest: the most neighbours of any fetched vertex or, if more, the most rows that contain the same vertex.
    """

    def __init__(self) -> None:
        """Start with nothing known."""
        self._kinds: dict[type, Key] = {}
        self._numbering = Numbering()
        self._fetched: dict[Key, int] = {}  # numbers
        none, short, marks = np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.uint64)
        self._arrived = Arrived(np.empty(0, np.uint32), none, short, short, marks, marks, short)
        self._random = np.random.default_rng()
        self.row_count = self.arc_count = self.largest = 0

    @property
    def vertex_count(self) -> int:
        """How many vertices are known by key."""
        return len(self._numbering)

    @property
    def places(self) -> NDArray[np.int64]:
        """By vertex: where its row is, as in `pcneo.kernels.cohesion.Rows`, or -1 if it has not been fetched."""
        return self._arrived.places

    @property
    def neighbours(self) -> NDArray[np.uint32]:
        """The rows."""
        return self._arrived.neighbours

    @property
    def unfetched(self) -> NDArray[np.int32]:
        """By vertex: for a fetched one, how many of its neighbours have not been fetched."""
        return self._arrived.unfetched

    @property
    def ranks(self) -> NDArray[np.int64]:
        """By vertex: of two fetched ones, the one with the smaller key has the smaller rank."""
        return self._numbering.ranks(self._fetched)

    def number(self, key: Key) -> int | None:
        """Return the number of a fetched vertex; None for all others."""
        return self._fetched.get(key)

    def lacks(self, keys: Iterable[Key]) -> list[Key]:
        """Return those keys whose vertices have not been fetched."""
        return [key for key in keys if key not in self._fetched]

    def keys(self, numbers: NDArray[np.integer[Any]]) -> list[Key]:
        """Return the keys of vertices."""
        return self._numbering.keys(numbers)

    def rows(self, numbers: NDArray[np.integer[Any]]) -> list[NDArray[np.uint32]]:
        """Return the neighbours, in any order, of each of the given vertices, all fetched."""
        starts, degrees = np.divmod(self.places[numbers], MAX_DEGREE + 1)
        neighbours = self.neighbours
        return [neighbours[a:b] for a, b in zip(starts.tolist(), (starts + degrees).tolist(), strict=True)]

    def add(self, rows: Iterable[tuple[Key, Sequence[Key]]]) -> None:
        """Add the neighbourhoods of vertices that have not been fetched before."""
        rows = list(rows)
        if not rows:
            return
        names, lists = zip(*rows, strict=True)
        self._check_names(names)
        note_kinds(self._kinds, names, *lists)
        numbers = self._numbering.add([names, *lists])
        fresh, listed = numbers[: len(names)], numbers[len(names) :]
        self._fetched.update(zip(names, fresh.tolist(), strict=True))
        self._make_room(len(listed))
        ends = np.cumsum(np.fromiter(map(len, lists), np.int64, len(lists)))
        appended = append_rows(self._arrived, self.row_count, self.arc_count, fresh, ends, listed)
        self.arc_count, longest, most, differing = map(int, appended)
        check_degree(longest, lambda: names[int(np.argmax(list(map(len, self.rows(fresh)))))])
        if differing >= 0:
            self._refuse(differing, fresh, np.split(listed, ends[:-1]))
        self.row_count += len(names)
        self.largest = max(self.largest, longest, most)

    def _check_names(self, names: Sequence[Key]) -> None:
        """Refuse a vertex that comes twice."""
        if len(set(names)) == len(names) and self._fetched.keys().isdisjoint(names):
            return
        example = next(key for i, key in enumerate(names) if key in self._fetched or key in names[:i])
        raise KeyPropertyError(
            f"The key {example!r} belongs to more than one vertex; choose a key property that is unique.",
            count=1,
            example=example,
        )

    def _make_room(self, arcs: int) -> None:
        """Make room for all vertices, and for `arcs` more entries of rows."""
        arrived = self._arrived
        if self.vertex_count > len(arrived.places):
            more = 2 * self.vertex_count - len(arrived.places)
            none, short = np.zeros(more, np.int64), np.zeros(more, np.int32)
            arrived = arrived._replace(
                places=np.append(arrived.places, none - 1),
                unfetched=np.append(arrived.unfetched, short),
                arriving=np.append(arrived.arriving, short),
                marks=np.append(arrived.marks, self._random.integers(0, 2**64, more, np.uint64)),
                named=np.append(arrived.named, none.view(np.uint64)),
                seen=np.append(arrived.seen, short),
            )
        if self.arc_count + arcs > len(arrived.neighbours):
            more = 2 * (self.arc_count + arcs) - len(arrived.neighbours)
            arrived = arrived._replace(neighbours=np.append(arrived.neighbours, np.empty(more, np.uint32)))
        self._arrived = arrived

    def _refuse(self, differing: int, fresh: NDArray[np.int64], rows: list[NDArray[np.int64]]) -> None:
        """Raise the error for `differing` and another fetched vertex, of which only one names the other."""
        known = {v: set(row.tolist()) for v, row in zip(fresh.tolist(), rows, strict=True)}
        earlier = [v for v in self._fetched.values() if v not in known]
        known |= {v: set(row.tolist()) for v, row in zip(earlier, self.rows(np.array(earlier, np.int64)), strict=True)}
        other = next(v for v in known if (differing in known[v]) != (v in known[differing]))
        a, b = sorted(self.keys(np.array([differing, other])))
        raise GraphChangedError(
            f"Only one of {a!r} and {b!r} had the other as a neighbour when it was read: "
            "the graph changed while it was read. Ask again.",
            pair=(a, b),
        )

    def around(self, vertices: NDArray[np.integer[Any]]) -> tuple[Graph, NDArray[np.int64]]:
        """Return fetched vertices with their rows as a graph, and their positions in it.

        Their neighbours are also vertices of that graph, but without rows.
        """
        rows = self.rows(vertices)
        numbers, places = np.unique(np.concatenate((vertices, *rows)), return_inverse=True)
        keys, position = sort_keys(self.keys(numbers))
        positions = position[places]
        own, targets = positions[: len(vertices)], positions[len(vertices) :]
        arcs = sort_arcs(np.repeat(own, list(map(len, rows))), targets)
        offsets = np.searchsorted(arcs, np.arange(len(keys) + 1) << 32)
        return Graph(keys, offsets, arcs.astype(np.uint32)), own
