"""How the scales of one release come about, and what is drawn with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from pcneo.privacy.noise import Noise

__all__ = ["Drawn", "Scaling"]


@dataclass(frozen=True, eq=False)
class Scaling:
    """The scales of one release: fixed for each vertex, or one for all that is found by noise.

    Attributes:
        vertices: number of vertices.
        fixed: t_v by vertex, 0 where a count stays exact; None where a scale is drawn.
        find: draws, and returns the one scale λ; None where scales are fixed.
    """

    vertices: int
    fixed: list[Fraction] | None = None
    find: Callable[[Noise], Fraction] | None = None

    @classmethod
    def of_vertices(cls, scales: Sequence[Fraction]) -> Scaling:
        """Return scales that take no noise, one for each vertex."""
        return cls(len(scales), fixed=list(scales))

    @classmethod
    def by_noise(cls, vertices: int, find: Callable[[Noise], Fraction]) -> Scaling:
        """Return what finds one scale for all vertices by noise."""
        return cls(vertices, find=find)

    def draw(self, noise: Noise) -> list[Fraction]:
        """Return the scale of each vertex, drawing where it takes noise."""
        if self.find is not None:
            return [self.find(noise)] * self.vertices
        return self.fixed or []


@dataclass(frozen=True, eq=False)
class Drawn:
    """The numbers of one release.

    Attributes:
        counts: Γ*(v) by vertex.
        scales: the scale of each, 0 where the count is exact; empty for a mechanism that adds no noise.
        columns: what is published of each vertex beside its key, by name; by default `counts` alone.
        record: what is published beside, in place of what follows from counts and scales.
        remark: what to tell the owner with the counts; it follows from what is published.
    """

    counts: Sequence[int] | Sequence[float]
    scales: list[Fraction]
    columns: Mapping[str, Sequence[float]] = field(default_factory=dict)
    record: Mapping[str, object] = field(default_factory=dict)
    remark: str = ""
