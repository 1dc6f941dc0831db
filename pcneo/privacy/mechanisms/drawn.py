"""What is drawn for a release, and for several that share something."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

T = TypeVar("T")


class Once:
    """What several releases draw once, by name."""

    def __init__(self) -> None:
        """Begin with nothing drawn."""
        self._drawn: dict[str, Any] = {}

    def get(self, name: str, draw: Callable[[], T]) -> T:
        """Return what was drawn under a name, drawing it the first time."""
        if name not in self._drawn:
            self._drawn[name] = draw()
        return self._drawn[name]


@dataclass(frozen=True, eq=False)
class Drawn:
    """The numbers of one release.

    Attributes:
        counts: Γ*(v) by vertex.
        scale: λ of the noise in them, or in the total that they are modelled from; None where no noise was added.
        columns: what is published for each vertex beside its key, by name; only `counts` by default.
        record: what else is published, in place of what follows from counts and scale.
        remark: what to print for the owner with the counts; it follows from what is published.
    """

    counts: Sequence[int] | Sequence[float]
    scale: Fraction | None
    columns: Mapping[str, Sequence[float]] = field(default_factory=dict)
    record: Mapping[str, object] = field(default_factory=dict)
    remark: str = ""
