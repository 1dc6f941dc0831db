"""Compares means over the runs: numbers with their intervals, and what is beyond the noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.cells import SEED
from evaluation.results import Errors, Quantity, mean_of

_CONFIDENCE = 0.95

_REDRAWN = 400  # how often means are drawn again for an interval

_ALIKE = 0.8  # the correlation from which two curves count as alike, as the claims say

Floats = NDArray[np.float64]


def clearly(better: Errors, worse: Errors, quantity: Quantity = "expected", *, among: int = 1) -> bool:
    """Whether the 95 % interval of the difference of two means leaves out 0.

    `among` says how many such questions are decided together: a single wrong yes among them all has 5 % (Bonferroni).
    """
    smaller, larger = mean_of(better, quantity), mean_of(worse, quantity)
    beyond = NormalDist().inv_cdf(1 - (1 - _CONFIDENCE) / 2 / among)
    return larger.value - smaller.value > beyond * math.hypot(smaller.error, larger.error)


Interval = tuple[float, float, float]
"""A number, and the ends of its 95 % interval."""


def between(
    statistic: Callable[[Floats], float | np.floating[Any]], results: Sequence[Errors], quantity: Quantity = "expected"
) -> Interval:
    """Return a number that follows from means over the runs, with its 95 % interval.

    The means are drawn again, each with its standard error (a parametric bootstrap). The interval is the basic one: it
    corrects a correlation for noise that is added twice. The statistic takes the means in the order of the results.
    """
    means, drawn = _redrawn(results, quantity)
    with np.errstate(divide="ignore", invalid="ignore"):  # no error at all, where no count gets noise
        return _basic(float(statistic(means)), [float(statistic(row)) for row in drawn])


def _basic(number: float, drawn: Floats | Sequence[float]) -> Interval:
    """The basic bootstrap interval of a number that came out so when the means were drawn again."""
    tail = (1 - _CONFIDENCE) / 2
    with np.errstate(invalid="ignore"):
        low, high = np.quantile(drawn, [tail, 1 - tail]).tolist()
    if math.isinf(number):
        return number, number, number
    return number, 2 * number - high, 2 * number - low


def _redrawn(results: Sequence[Errors], quantity: Quantity) -> tuple[Floats, Floats]:
    """The means over the runs; and means of other runs as they might be, a row for each time."""
    means = np.array([mean_of(result, quantity).value for result in results], np.float64)
    errors = np.array([mean_of(result, quantity).error for result in results], np.float64)
    drawn = means + errors * np.random.default_rng(SEED).standard_normal((_REDRAWN, len(means)))
    return means, np.maximum(drawn, means / 100)  # errors are positive: logarithms are taken of them


def side(interval: Interval, threshold: float = 0.0) -> int:
    """Return 1 for an interval above a threshold, -1 for one below, 0 for one that contains it."""
    _, low, high = interval
    return int(low >= threshold) - int(high < threshold)


def alike(
    first: Sequence[Errors],
    second: Sequence[Errors] | Floats,
    scale: Callable[[Floats], Floats],
    quantity: Quantity = "expected",
) -> tuple[float, int]:
    """Correlate a curve with another, or with numbers without noise; return the correlation and its `side` of 0.8.

    A correlation can be corrected for the noise only while the noise leaves most of it. So a curve that would look
    different in other runs is on neither side, whatever it looks like in these runs. `scale` is applied to each curve
    of means, along the last axis, before they are compared.
    """
    noisy = [first] if isinstance(second, np.ndarray) else [first, second]
    exact = [second] if isinstance(second, np.ndarray) else []

    def correlations(means: Floats) -> Floats:
        return correlation(*map(scale, np.split(means, len(noisy), axis=-1)), *exact)

    means, drawn = _redrawn([result for curve in noisy for result in curve], quantity)
    with np.errstate(divide="ignore", invalid="ignore"):  # logarithms of no error at all
        interval = _basic(float(correlations(means)), correlations(drawn))
    steady = all(_like_itself(curve, scale, quantity) >= _ALIKE for curve in noisy)
    return interval[0], side(interval, _ALIKE) if steady else 0


def _like_itself(curve: Sequence[Errors], scale: Callable[[Floats], Floats], quantity: Quantity) -> float:
    """The mean correlation of a curve with the curves that other runs might give."""
    means, drawn = _redrawn(curve, quantity)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(correlation(scale(means), scale(drawn)).mean())


def ratio(error: float, of: float) -> float:
    """Return an error as a multiple of another; of 0, which the switch `inside` allows, it is infinite, or 1 for 0."""
    if of == 0:
        return math.inf if error > 0 else 1.0
    return error / of


def geometric(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def ranks(values: Floats) -> Floats:
    """Return the ranks along the last axis; equal values, such as bounds at their clamp, share their mean rank."""
    ours, others = values[..., :, None], values[..., None, :]
    return (others < ours).sum(axis=-1) + ((others == ours).sum(axis=-1) - 1) / 2


def correlation(first: Floats, second: Floats) -> Floats:
    """Return the correlation along the last axis; 0 where one side does not vary."""
    ours, others = (values - values.mean(axis=-1, keepdims=True) for values in (first, second))
    spread = np.sqrt((ours**2).sum(axis=-1) * (others**2).sum(axis=-1))
    return np.divide((ours * others).sum(axis=-1), spread, out=np.zeros(spread.shape), where=spread > 0)
