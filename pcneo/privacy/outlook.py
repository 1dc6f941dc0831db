"""How noisy a release will be, as far as that may be said before anything is spent (GUARANTEE.md#utility)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["DIFFERENT_PROMISES", "EdgeErrors", "Utility"]

DIFFERENT_PROMISES = "At equal ε, mechanisms promise different things."


class EdgeErrors(NamedTuple):
    """The standard error of the total with `edge`, by how many neighbours two vertices share at most."""

    least: float
    expected: float
    most: float


@dataclass(frozen=True)
class Utility:
    """What may be said beforehand: of one scale, from public bounds; of `critical`, for the owner, from P̂ and Ĝ.

    Attributes:
        least_scale: λ is never smaller; None for `critical`.
        usual_scale: the λ of a graph without connections; None for `critical`.
        usual_standard_error: of the total, at the usual λ; None for `critical`.
        standard_error: of the total, with `critical`; None for the others.
        exact_counts: how many counts `critical` will publish exactly; None for the others.
        exact_supports: whether `critical`'s scales rest on exact supports, or on a bound; None for the others.
        with_edge: what `edge` would have in place of `critical`; None for the others, or where it cannot be drawn.
    """

    least_scale: float | None = None
    usual_scale: float | None = None
    usual_standard_error: float | None = None
    standard_error: float | None = None
    exact_counts: int | None = None
    exact_supports: bool | None = None
    with_edge: EdgeErrors | None = None
