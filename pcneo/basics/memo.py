"""A memo: values that are computed when they are first wanted, and kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class Memo:
    """Values by key. A computation that raises keeps nothing, and is tried again when its value is next wanted.

    Two threads that want the same value at once may both compute it; both then get the value that was kept first.
    """

    def __init__(self) -> None:
        """Begin with nothing kept."""
        self._values: dict[Hashable, Any] = {}

    def __contains__(self, key: Hashable) -> bool:
        """Whether the value is kept already."""
        return key in self._values

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the value of a key; `compute` is called if it is not kept."""
        if key not in self._values:
            value = compute()
            self._values.setdefault(key, value)
        return self._values[key]

    def put(self, key: Hashable, value: object) -> None:
        """Keep a value that was computed together with others."""
        self._values[key] = value
