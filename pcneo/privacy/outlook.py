"""How noisy a release will be, as far as that may be said before anything is spent (GUARANTEE.md#utility)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["DIFFERENT_PROMISES", "Foresight", "Utility"]

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


@dataclass(frozen=True)
class Utility:
    """What may be said beforehand: of a scale found by noise, from public bounds; else from P̂ and outside connections.

    Attributes:
        least_scale: λ is never smaller; like the next two, None for a mechanism that draws no scale.
        usual_scale: the λ of a graph without connections.
        usual_standard_error: of the total, at the usual λ.
        least_error: standard error of a count of triangles, as the root mean square over the vertices, with as few
            connections inside groups as can be; like the next, None for a mechanism without groups.
        most_error: the same with as many as can be.
    """

    least_scale: float | None = None
    usual_scale: float | None = None
    usual_standard_error: float | None = None
    least_error: float | None = None
    most_error: float | None = None
