"""`published` beside `elv` at the same settings, and the numbers that say how they compare."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pcneo.evaluate.cells import SEED, Result
from pcneo.evaluate.claims.judging import Check, Outcome
from pcneo.evaluate.finished import Finished

__all__ = [
    "Floats",
    "Interval",
    "Setting",
    "alike",
    "between",
    "clearly",
    "correlation",
    "geometric",
    "outperforms",
    "pairs_at",
    "ranks",
    "ratio",
    "setting",
    "side",
]

_CONFIDENCE = 0.95

_REDRAWN = 400  # times that means are drawn again for an interval

_MOST = 0.95  # of many points some fall within the noise of each other

_ALIKE = 0.8  # the correlation from which on two curves count as alike, as the claims say

Floats = NDArray[np.float64]

Setting = dict[str, Any]
"""Parameters of a release, by name, but for mechanism and switches."""


def setting(graph: str, k: int, epsilon: str, h: int = 3, p: str = "0.1", epsilon_1: str | None = None) -> Setting:
    """Return a setting, with the evaluation's usual values for what is not given."""
    return {"graph": graph, "k": k, "epsilon": epsilon, "h": h, "p": p, "epsilon_1": epsilon_1}


def _release(finished: Finished, mechanism: str, switches: tuple[str, ...], **given: Any) -> Result | None:
    if mechanism == "elv":
        given.pop("p", None)
    return finished.one(kind="release", mechanism=mechanism, switches=switches, **given)


def pairs_at(
    finished: Finished, switches: tuple[str, ...], settings: Iterable[Setting]
) -> list[tuple[Setting, Result, Result]] | None:
    """`published` and `elv` at each setting; None where a cell is missing."""
    found = []
    for given in settings:
        published, elv = (_release(finished, name, switches, **given) for name in ("published", "elv"))
        if published is None or elv is None:
            return None
        found.append((given, published, elv))
    return found


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


def outperforms(settings: Sequence[Setting], by: str) -> Check:
    """`published` has clearly smaller errors at 95 % of the settings at least, and clearly larger ones at none."""

    def check(finished: Finished, switches: tuple[str, ...]) -> Outcome | None:
        pairs = pairs_at(finished, switches, settings)
        if pairs is None:
            return None
        better = [given for given, published, elv in pairs if published["total"] < elv["total"]]
        clear = sum(clearly(published, elv) for _, published, elv in pairs)
        worse = sum(clearly(elv, published, among=len(pairs)) for _, published, elv in pairs)
        groups: dict[object, list[float]] = {}
        for given, published, elv in pairs:
            groups.setdefault(given[by], []).append(ratio(elv["total"], published["total"]))
        if len(groups) > 12:  # as many as there are values of ε1
            spread = [each for ratios in groups.values() for each in ratios]
            ratios = f"between ×{min(spread):.3g} and ×{max(spread):.3g}, median ×{np.median(spread):.3g}"
        else:
            ratios = ", ".join(f"{name} ×{geometric(values):.3g}" for name, values in groups.items())
        holds = clear >= _MOST * len(pairs) and worse == 0
        return Outcome(
            holds,
            f"smaller at {len(better)} of {len(pairs)} points (clearly at {clear}, clearly larger at {worse}); "
            f"error of elv over that of published by {_NAMES.get(by, by)}: {ratios}",
            told=holds or worse > 0,
        )

    return check


def ratio(error: float, of: float) -> float:
    """Return how many times as large one error is; infinite beside 0, as no count may get noise with `inside`."""
    if of == 0:
        return math.inf if error > 0 else 1.0
    return error / of


_NAMES = {"epsilon_1": "ε1", "epsilon": "ε"}


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
