"""Keys, numbered in the order in which they arrive."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import Key
from pcneo.graph.arrays import key_array
from pcneo.kernels.arrivals import number_keys


class Numbering:
    """Keys, all integers or all strings, numbered as they come."""

    def __init__(self) -> None:
        """Start with no keys."""
        self._count = 0
        self._table = np.zeros(64, np.uint32)  # of integer keys: the kernel fills this and the next
        self._integers = np.empty(0, np.int64)
        self._strings = _Numbers()
        self._names: list[Key] = []  # the strings by number
        self._in_order: list[Key] = []  # the strings that have ranks, ascending
        self._ranks = np.empty(0, np.int64)

    def __len__(self) -> int:
        """Return how many keys have numbers."""
        return self._count

    def add(self, rows: Sequence[Sequence[Key]]) -> NDArray[np.int64]:
        """Return the number of each key in the rows, row after row; keys without a number get new ones."""
        # Rows are not joined first: a search has hundreds of thousands of keys, and every pass over them counts.
        keys, count = chain.from_iterable(rows), sum(map(len, rows))
        if isinstance(rows[0][0], str):
            numbers = np.fromiter(map(self._strings.__getitem__, keys), np.int64, count)
            self._names.extend(list(self._strings)[self._count :])
            self._count = len(self._strings)
            return numbers
        try:
            wanted = np.fromiter(keys, np.int64, count)
        except OverflowError:
            wanted = key_array(list(chain.from_iterable(rows)))  # raises an error that names the key
        most = self._count + count
        if most > len(self._integers):
            self._integers = np.append(self._integers, np.empty(2 * most - len(self._integers), np.int64))
        if 2 * most > len(self._table):
            self._table = np.zeros(1 << (4 * most).bit_length(), np.uint32)
            known = self._integers[: self._count].copy()
            number_keys(known, self._table, self._integers, 0, np.empty(len(known), np.int64))
        numbers = np.empty(count, np.int64)
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


class _Numbers(dict[Key, int]):
    def __missing__(self, key: Key) -> int:
        self[key] = number = len(self)
        return number
