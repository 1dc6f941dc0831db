"""How noisy a release will be, as far as that may be said before anything is spent (GUARANTEE.md#utility)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from pcneo.basics.frames import rounded
from pcneo.errors import ParameterError
from pcneo.privacy.exact import decimal_text, positive

DIFFERENT_PROMISES = "At equal ε, mechanisms promise different things."

USUAL_DEGREE = 10.0
"""The mean degree that is assumed where no one states it."""

GUESSED_DEGREE = "a guessed mean degree"

MOST_VERTICES = 10**9
"""More than any graph that is released has."""

_LEAST_DEGREE = Fraction(1, MOST_VERTICES)
_ROUNDING = 1e-6


class Public(NamedTuple):
    """What the owner states or guesses about a graph: never read from its connections.

    Attributes:
        mean_degree: connections of a vertex, on average.
        mean_count: triangles of a vertex, on average; None where it is not stated.
    """

    mean_degree: float = USUAL_DEGREE
    mean_count: float | None = None

    @property
    def common(self) -> int:
        """A lower bound on C, the most neighbours that two vertices share: what two connected ones share on average."""
        return max(1, math.ceil(2 * (self.mean_count or 0.0) / self.mean_degree - _ROUNDING))

    @property
    def most(self) -> float:
        """The most triangles that a vertex with as many connections as the mean can be in; at least one."""
        return max(1.0, self.mean_degree * (self.mean_degree - 1) / 2)

    def among(self, n: int) -> Public:
        """Return the same with means that n vertices can have: what was published with noise may be larger."""
        count = self.mean_count
        return Public(min(self.mean_degree, n - 1), count and min(count, float(math.comb(n - 1, 2))))

    @property
    def likely(self) -> float:
        """A third of `most`: in most social networks a vertex is in as many triangles, or more."""
        return self.most / 3


def stated_public(mean_degree: object, mean_count: object = None, n: int = MOST_VERTICES) -> Public:
    """Read what a person states about a graph (n where it is known); refuse what no graph has."""
    degree = positive(mean_degree, "mean degree")
    if not _LEAST_DEGREE <= degree <= MOST_VERTICES:
        raise ParameterError(
            f"mean degree must be between {decimal_text(_LEAST_DEGREE)} and {MOST_VERTICES:,}, not {float(degree):g}.",
            name="mean degree",
            value=mean_degree,
        )
    count = None if mean_count is None else float(positive(mean_count, "expect"))
    check_possible(count, n)
    return Public(float(degree), count)


def check_possible(mean_count: float | None, n: int) -> None:
    """Refuse a mean number of triangles that no graph of n vertices has."""
    most = math.comb(n - 1, 2)
    if mean_count is not None and mean_count > most:
        raise ParameterError(
            f"expect is the mean number of triangles that a vertex is in: among {n:,} vertices it is at most {most:,}, "
            f"not {mean_count:,.6g}.",
            name="expect",
            value=mean_count,
        )


class Earlier(NamedTuple):
    """What earlier releases of a graph have published about it, each figure the most exact; None without one above 0.

    Attributes:
        mean_count: triangles of a vertex, on average.
        mean_degree: connections of a vertex, on average.
        count_is_promised: whether mean_count is from a release that promises something.
    """

    mean_count: float | None = None
    mean_degree: float | None = None
    count_is_promised: bool = False


class Foresight(NamedTuple):
    """What public numbers say about a mechanism; a field is None or empty where they say nothing.

    Attributes:
        error: a lower bound on the standard error of a count, averaged over the vertices.
        error_of_total: a lower bound on the standard error of the total.
        shows: what the answers give away, with ln(n/d).
        percent_true: the percentage of yes-answers that would be connections.
        takes: time and memory.
    """

    error: float | None = None
    error_of_total: float | None = None
    shows: str = ""
    percent_true: float | None = None
    takes: str = ""


@dataclass(frozen=True)
class Utility:
    """What may be said before the spend: from public bounds on λ, or from P̂ and the connections outside it.

    Attributes:
        least_scale: λ is never smaller; None for a mechanism that draws no scale.
        least_error: standard error of a count of triangles, as the root mean square over the vertices, with as few
            connections inside groups as possible; like `most_error`, None for a mechanism without groups.
        most_error: the same with as many as possible.
    """

    least_scale: float | None = None
    least_error: float | None = None
    most_error: float | None = None


ESTIMATE = "an estimate from the answers, as the root mean square over the vertices"
"""What the standard error of a count is for k = 3, under `critical` and `respond`."""
BOUND = "a bound from the groups and the connections outside them, as the root mean square over the vertices"
"""The same under `critical`, where the answers give no estimate."""
UPPER_ESTIMATE = "an upper estimate, often several times too large"
"""What a standard error from above is, in words."""


def how_far(errors_are: str) -> str:
    """Return the words before a standard error that is only a bound; empty for any other."""
    words = {ESTIMATE: "about ", BOUND: "at most "}
    return words.get(errors_are, "")


def is_mostly_noise(error: float, counts: Sequence[float]) -> bool:
    """Whether the standard error of counts is above their mean."""
    return error > max(0.0, _mean(counts))


def noise_warning(error: float, counts: Sequence[float], errors_are: str = "") -> str | None:
    """Return the warning for counts whose standard error is above their mean, all of it published; None for others."""
    if not is_mostly_noise(error, counts):
        return None
    return (
        f"These counts are mostly noise: their standard error is {how_far(errors_are) or 'about '}{rounded(error, 3)}, "
        f"and their mean is {rounded(_mean(counts), 3)}. Only counts far above that error say much about their vertex."
    )


def _mean(counts: Sequence[float]) -> float:
    return math.fsum(counts) / len(counts) if counts else 0.0
