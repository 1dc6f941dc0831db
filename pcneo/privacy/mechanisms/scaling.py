"""How the scales of one release are found, and what is drawn with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

from pcneo.privacy.noise import Noise

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
class Scaling:
    """The scale of one release, the same for all vertices and found by noise; there is none where pairs are answered.

    Attributes:
        vertices: number of vertices.
        find: draws noise and returns the scale λ; None where nothing gets noise.
    """

    vertices: int
    find: Callable[[Noise], Fraction] | None = None

    def draw(self, noise: Noise) -> list[Fraction]:
        """Return the scale of each vertex, drawing where it takes noise."""
        return [] if self.find is None else [self.find(noise)] * self.vertices


@dataclass(frozen=True, eq=False)
class Drawn:
    """The numbers of one release.

    Attributes:
        counts: Γ*(v) by vertex.
        scales: the scale of each count; empty for a mechanism that adds no noise.
        columns: what is published for each vertex beside its key, by name; only `counts` by default.
        record: what else is published, in place of what follows from counts and scales.
        remark: what to print for the owner with the counts; it follows from what is published.
    """

    counts: Sequence[int] | Sequence[float]
    scales: list[Fraction]
    columns: Mapping[str, Sequence[float]] = field(default_factory=dict)
    record: Mapping[str, object] = field(default_factory=dict)
    remark: str = ""
