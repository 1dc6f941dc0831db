"""Parameters of mechanisms: given as a person writes them, read once, kept as exact numbers (GUARANTEE.md#refused)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING
from decimal import Decimal
from fractions import Fraction
from typing import Any, Generic, TypeVar, cast

from pcneo.errors import ParameterError
from pcneo.privacy.exact import positive

AnyNumber = int | float | str | Decimal | Fraction
"""ε, δ or a part of ε: as text, such as `"0.5"` or `"1/3"`, or as a number."""

Kept = TypeVar("Kept")
Written = TypeVar("Written")


class Given(Generic[Kept, Written]):
    """A field of a mechanism whose value is read when it is set; None until the mechanism fills it in.

    To type checkers it always has a value, as it does in a mechanism that knows the number of vertices.
    """

    def __init__(self, read: Callable[[Written, str], Kept], default: object = None) -> None:
        """Take the function that reads a value, given the value and the parameter's name as people see it."""
        self._read, self._default = read, default

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the name under which the value is kept."""
        self._name = name

    def __get__(self, mechanism: Any, kind: type | None = None) -> Kept:
        """Return the value, or the default when `dataclass` asks the class for it."""
        if mechanism is not None:
            return mechanism.__dict__[self._name]
        if self._default is MISSING:
            raise AttributeError(self._name)
        return cast("Kept", self._default)

    def __set__(self, mechanism: Any, value: Written | None) -> None:
        """Read a value and keep it."""
        left = value is None and self._default is None
        mechanism.__dict__[self._name] = None if left else self._read(cast("Written", value), words_of(self._name))


class Exact(Given[Fraction, AnyNumber]):
    """ε, δ or a part of ε."""

    def __init__(self, *, below: int | None = None, needed: bool = False) -> None:
        """Take an upper bound, which is itself refused, and whether a value is required."""
        super().__init__(lambda value, name: positive(value, name, below=below), MISSING if needed else None)


class Switch(Given[bool, bool]):
    """A yes or no; no unless given."""

    def __init__(self) -> None:
        """Default to no."""
        super().__init__(_yes_or_no, False)


class CliqueSizes(Given[int, int | Sequence[int]]):
    """k: a number, or several different ones, which are kept as a tuple."""

    def __init__(self) -> None:
        """Default to 3."""
        super().__init__(_clique_sizes, 3)


class Vertices(Given[int, int]):
    """A number of vertices, whose bounds depend on how many the graph has."""

    def __init__(self) -> None:
        """Leave it open by default."""
        super().__init__(lambda value, name: value)


def words_of(name: str) -> str:
    """Return a parameter's name as messages write it."""
    return name.replace("_", " ")


def whole(name: str, value: int, *, at_least: int, at_most: int | None = None) -> None:
    """Refuse anything but a whole number in a range, by a ParameterError."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if not (is_whole and at_least <= value and (at_most is None or value <= at_most)):
        bound = f"of at least {at_least}" if at_most is None else f"from {at_least} to {at_most}"
        raise ParameterError(f"{name} must be a whole number {bound}, not {value!r}.", name=name, value=value)


def _yes_or_no(value: bool, name: str) -> bool:
    if not isinstance(value, bool):
        raise ParameterError(f"{name} must be True or False, not {value!r}.", name=name, value=value)
    return value


def _clique_sizes(value: int | Sequence[int], name: str) -> int:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return value  # pyright: ignore[reportReturnType] - a text is refused with the numbers out of range
    if not value or len(set(value)) < len(value):
        raise ParameterError(f"k must be one number or several different ones, not {value!r}.", name=name, value=value)
    return value[0] if len(value) == 1 else cast("int", tuple(value))
