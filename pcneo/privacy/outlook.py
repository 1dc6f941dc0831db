"""How noisy a release will be, as far as that may be said before anything is spent (GUARANTEE.md#utility)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pcneo.basics.frames import rounded

DIFFERENT_PROMISES = "At equal ε, mechanisms promise different things."

USUAL_DEGREE = 10.0
"""Connections of a vertex in the mean, where nobody states how many."""

GUESSED_DEGREE = "a guessed mean degree"

_ROUNDING = 1e-6


class Public(NamedTuple):
    """What the owner states of a graph, or guesses: never what its connections say.

    Attributes:
        mean_degree: connections of a vertex, in the mean.
        mean_count: triangles of a vertex, in the mean; None where nothing is stated.
    """

    mean_degree: float = USUAL_DEGREE
    mean_count: float | None = None

    @property
    def common(self) -> int:
        """C at least, the most neighbours that two vertices share: two connected ones share so many in the mean."""
        return max(1, math.ceil(2 * (self.mean_count or 0.0) / self.mean_degree - _ROUNDING))


class Earlier(NamedTuple):
    """What earlier releases of a graph have published of it, the most exact of each; None for nothing above 0.

    Attributes:
        mean_count: triangles of a vertex, in the mean.
        mean_degree: connections of a vertex, in the mean.
        count_is_promised: whether mean_count is of a release that promises something.
    """

    mean_count: float | None = None
    mean_degree: float | None = None
    count_is_promised: bool = False


class Foresight(NamedTuple):
    """What public numbers tell of a mechanism; nothing where they tell nothing.

    Attributes:
        error: standard error of a count, at least, as a mean over the vertices.
        error_of_total: standard error of the total, at least.
        shows: what the answers give away, with ln(n/d).
        percent_true: of the yes-answers.
        takes: time and memory.
    """

    error: float | None = None
    error_of_total: float | None = None
    shows: str = ""
    percent_true: float | None = None
    takes: str = ""


@dataclass(frozen=True)
class Utility:
    """What may be said beforehand: of a scale found by noise, from public bounds; else from P̂ and outside connections.

    Attributes:
        least_scale: λ is never smaller; None for a mechanism that draws no scale.
        least_error: standard error of a count of triangles, as the root mean square over the vertices, with as few
            connections inside groups as can be; like the next, None for a mechanism without groups.
        most_error: the same with as many as can be.
    """

    least_scale: float | None = None
    least_error: float | None = None
    most_error: float | None = None


FROM_ABOVE, LOWER_BOUNDS = "estimates from above", "lower bounds"
"""What standard errors of `respond` are, for k = 3 and for k = 4."""


def how_far(errors_are: str) -> str:
    """Return the words before a standard error that is only a bound; empty for any other."""
    return {LOWER_BOUNDS: "at least ", FROM_ABOVE: "at most about "}.get(errors_are, "")


def is_mostly_noise(error: float, counts: Sequence[float]) -> bool:
    """Whether the standard error of counts is above their mean."""
    return error > max(0.0, _mean(counts))


def noise_warning(error: float, counts: Sequence[float], errors_are: str = "") -> str | None:
    """Return the warning for counts whose standard error is above their mean, all of it published; None for others."""
    if not is_mostly_noise(error, counts):
        return None
    mean = _mean(counts)
    be, how = "may be" if errors_are == FROM_ABOVE else "are", how_far(errors_are) or "about "
    return (
        f"These counts {be} mostly noise: their standard error is {how}{rounded(error, 3)}, and their mean is "
        f"{rounded(mean, 3)}."
    )


def _mean(counts: Sequence[float]) -> float:
    return math.fsum(counts) / len(counts) if counts else 0.0
