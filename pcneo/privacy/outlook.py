"""How noisy a release will be, as far as that may be said before anything is spent (GUARANTEE.md#utility)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["DIFFERENT_PROMISES", "EdgeErrors", "Foresight", "Utility"]

DIFFERENT_PROMISES = "At equal ε, mechanisms promise different things."


class Foresight(NamedTuple):
    """What public numbers tell of a mechanism; nothing where they tell nothing.

    Attributes:
        error: standard error of the count of a vertex with as many connections as the mean.
        error_is: what that figure is.
        error_of_total: standard error of the total.
        shows: what the answers give away, with ln(n/d).
        percent_true: of the yes-answers.
        takes: time and memory.
    """

    error: float | None = None
    error_is: str = ""
    error_of_total: float | None = None
    shows: str = ""
    percent_true: float | None = None
    takes: str = ""


class EdgeErrors(NamedTuple):
    """The standard error of the total with `edge`, by how many neighbours two vertices share at most."""

    least: float
    expected: float
    most: float


@dataclass(frozen=True)
class Utility:
    """What may be said beforehand: of a scale found by noise, from public bounds; else from P̂ and Ĝ, for the owner.

    Attributes:
        least_scale: λ is never smaller; like the next two, None where scales follow from groups.
        usual_scale: the λ of a graph without connections.
        usual_standard_error: of the total, at the usual λ.
        standard_error: of the total; like the next three, None where scales do not follow from groups.
        exact_counts: how many counts will be published exactly.
        exact_supports: whether the scales rest on exact supports, or on a bound.
        with_edge: what `edge` would have instead; None also where it cannot be drawn.
    """

    least_scale: float | None = None
    usual_scale: float | None = None
    usual_standard_error: float | None = None
    standard_error: float | None = None
    exact_counts: int | None = None
    exact_supports: bool | None = None
    with_edge: EdgeErrors | None = None
