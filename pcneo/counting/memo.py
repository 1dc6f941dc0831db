"""A memo: values that are computed when they are first wanted, and kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memo(Generic[K, V]):
    """Values by key. A computation that raises keeps nothing, and is tried again when its value is next wanted.

    Two threads that want the same value at once may both compute it; both then get the value that was kept first.
    """

    def __init__(self) -> None:
        """Begin with nothing kept."""
        self._values: dict[K, V] = {}

    def __contains__(self, key: K) -> bool:
        """Whether the value is kept already."""
        return key in self._values

    def get(self, key: K, compute: Callable[[], V]) -> V:
        """Return the value of a key; `compute` is called if it is not kept."""
        if key not in self._values:
            value = compute()
            self._values.setdefault(key, value)
        return self._values[key]

    def put(self, key: K, value: V) -> None:
        """Keep a value that was computed together with others."""
        self._values[key] = value
