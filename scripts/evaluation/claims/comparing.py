"""Numbers that compare means over the runs, and what of them is beyond the noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.cells import SEED, Result

__all__ = [
    "Floats",
    "Interval",
    "alike",
    "between",
    "clearly",
    "correlation",
    "geometric",
    "ranks",
    "ratio",
    "side",
]

_CONFIDENCE = 0.95

_REDRAWN = 400  # times that means are drawn again for an interval

_ALIKE = 0.8  # the correlation from which on two curves count as alike, as the claims say

Floats = NDArray[np.float64]


def clearly(better: Result, worse: Result, quantity: str = "total", *, among: int = 1) -> bool:
    """Whether the 95 % interval of the difference of two means leaves out 0.

    Args:
        better, worse: where the mean is to be the smaller, and the larger.
        quantity: whose mean.
        among: how many such questions are asked together, so that one yes of them all is wrong in 5 % (Bonferroni).
    """
    error = math.hypot(better[f"{quantity}_error"], worse[f"{quantity}_error"])
    beyond = NormalDist().inv_cdf(1 - (1 - _CONFIDENCE) / 2 / among)
    return worse[quantity] - better[quantity] > beyond * error


Interval = tuple[float, float, float]
"""A number, and the ends of its 95 % interval."""


def between(
    statistic: Callable[[Floats], float | np.floating[Any]], results: Sequence[Result], quantity: str = "total"
) -> Interval:
    """Return a number that follows from means over the runs, with its 95 % interval.

    The means are drawn again, each with its standard error (a parametric bootstrap); the interval is the basic one,
    which takes out what the noise added twice does to a correlation.

    Args:
        statistic: takes the means, float64, shape (number of results,).
        results: whose means, in the order that it takes them.
        quantity: which mean.
    """
    means, drawn = _redrawn(results, quantity)
    tail = (1 - _CONFIDENCE) / 2
    with np.errstate(divide="ignore", invalid="ignore"):  # no error at all, where no count gets noise
        number = float(statistic(means))
        low, high = np.quantile([float(statistic(each)) for each in drawn], [tail, 1 - tail]).tolist()
    if math.isinf(number):
        return number, number, number
    return number, 2 * number - high, 2 * number - low


def _redrawn(results: Sequence[Result], quantity: str) -> tuple[Floats, Floats]:
    """The means over the runs, and as they might have come out in other runs, a row each time."""
    means, errors = (np.array([float(r[name]) for r in results]) for name in (quantity, f"{quantity}_error"))
    drawn = means + errors * np.random.default_rng(SEED).standard_normal((_REDRAWN, len(means)))
    return means, np.maximum(drawn, means / 100)  # an error is positive, and may be taken the logarithm of


def side(interval: Interval, threshold: float = 0.0) -> int:
    """Return 1 where an interval is beyond a threshold, -1 where it is below, 0 where it holds it."""
    _, low, high = interval
    return int(low >= threshold) - int(high < threshold)


def alike(
    first: Sequence[Result],
    second: Sequence[Result] | Floats,
    scale: Callable[[Floats], Floats],
    quantity: str = "total",
) -> tuple[float, int]:
    """Correlate a curve with another, or with numbers that have no noise.

    What the noise takes from a correlation can be put back only where it leaves most of it: a curve that comes out
    unlike itself in other runs is told apart from nothing, whatever it looks like in these.

    Args:
        first, second: means by what is swept; or, for the second, float64 of the same shape.
        scale: that the means are compared on; applied to each curve of means.
        quantity: which mean.

    Returns:
        The correlation, and the side of 0.8 that it is on.
    """
    noisy = [first] if isinstance(second, np.ndarray) else [first, second]
    exact = [second] if isinstance(second, np.ndarray) else []

    def statistic(means: Floats) -> float:
        return correlation(*map(scale, np.split(means, len(noisy))), *exact)

    interval = between(statistic, [result for curve in noisy for result in curve], quantity)
    steady = all(_like_itself(curve, scale, quantity) >= _ALIKE for curve in noisy)
    return interval[0], side(interval, _ALIKE) if steady else 0


def _like_itself(curve: Sequence[Result], scale: Callable[[Floats], Floats], quantity: str) -> float:
    """The mean correlation of a curve with what it might have been in other runs."""
    means, drawn = _redrawn(curve, quantity)
    return float(np.mean([correlation(scale(means), scale(each)) for each in drawn]))


def ratio(error: float, of: float) -> float:
    """Return how many times as large one error is; infinite beside 0, as no count may get noise with `inside`."""
    if of == 0:
        return math.inf if error > 0 else 1.0
    return error / of


def geometric(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def ranks(values: Floats) -> Floats:
    """Return the place of each value in ascending order; equal ones, as bounds are at their clamp, share the mean."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts + 1) / 2)[which]


def correlation(first: Floats, second: Floats) -> float:
    """Return the correlation; 0 where one side does not vary."""
    if not (first.std() > 0 and second.std() > 0):
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])
