"""Checks of errors and bounds by ε and by ε1."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from evaluation.claims.comparing import Floats, alike, between, ranks, side
from evaluation.claims.judging import Check, Outcome
from evaluation.claims.settings import Panel, Setting, curves_of, in_panels, setting
from evaluation.experiments import EPSILON_1S, EPSILONS, HS_BY_EPSILON, HS_BY_EPSILON_1
from evaluation.results import Errors, Quantity, mean_of


def by_epsilon(k: int) -> list[list[Setting]]:
    """Return the settings of a figure by ε: a list for each h."""
    return [[setting("USAirport", k, epsilon, h) for epsilon in EPSILONS] for h in HS_BY_EPSILON]


def _errors(curve: Sequence[Errors]) -> Floats:
    return np.array([mean_of(result, "expected").value for result in curve])


def similar_by_epsilon(k: int) -> Check:
    """The errors of `published` and `elv` follow similar trends in ε, for all h."""

    def outcome(panels: list[Panel]) -> Outcome:
        texts, signs = [], []
        for panel in panels:
            value, sign = alike(*curves_of(panel), np.log)
            signs.append(sign)
            texts.append(f"h={panel[0][0]['h']}: {value:.2f}")
        return Outcome.of(signs, f"correlation of log expected errors over ε: {', '.join(texts)}")

    return in_panels(by_epsilon(k), outcome)


def _ends(means: Floats) -> tuple[float, float]:
    """Mean log ratios at the four smallest and at the four largest ε; takes means of `published`, then of `elv`."""
    published, elv = np.split(np.log(means), 2)
    return float((elv - published)[:4].mean()), float((elv - published)[-4:].mean())


def _better_with_epsilon(panels: list[Panel]) -> Outcome:
    texts, signs = [], []
    for panel in panels:
        published, elv = curves_of(panel)
        results = [*published, *elv]
        signs += [
            side(between(lambda means: _ends(means)[1] - _ends(means)[0], results)),
            side(between(lambda means: _ends(means)[1], results)),
        ]
        low, high = map(math.exp, _ends(_errors(results)))
        texts.append(f"h={panel[0][0]['h']}: ×{low:.3g}, then ×{high:.3g}")
    text = "; ".join(texts)
    return Outcome.of(signs, f"expected error of elv over that of published, ε from 1 to 4, then from 9 to 12: {text}")


BETTER_WITH_EPSILON = in_panels(by_epsilon(3), _better_with_epsilon)
"""`published` is better than `elv` at the largest ε, and more so than at the smallest, for all h."""


def by_epsilon_1() -> list[list[Setting]]:
    """Return the settings of the figure by ε1: a list for each h."""
    return [[setting("Celegans", 3, "5", h, epsilon_1=epsilon_1) for epsilon_1 in EPSILON_1S] for h in HS_BY_EPSILON_1]


Curves = dict[tuple[str, int], list[Errors]]
"""Errors by ε1, of each mechanism and h."""


def _along_epsilon_1(outcome: Callable[[Curves], Outcome]) -> Check:
    def of_panels(panels: list[Panel]) -> Outcome:
        curves: Curves = {}
        for panel in panels:
            h = panel[0][0]["h"]
            curves["published", h], curves["elv", h] = curves_of(panel)
        return outcome(curves)

    return in_panels(by_epsilon_1(), of_panels)


def trend_of_epsilon_1(low: float, high: float, sign: int, quantity: Quantity = "expected") -> Check:
    """Every curve falls (-1) or rises (1) between two ε1."""
    places = [i for i, epsilon_1 in enumerate(EPSILON_1S) if low <= float(epsilon_1) <= high]
    along = sign * np.array(places, float)

    def outcome(curves: Curves) -> Outcome:
        trends = {name: alike([curve[i] for i in places], along, ranks, quantity) for name, curve in curves.items()}
        signs = [side for _, side in trends.values()]
        text = ", ".join(f"{name} h={h}: {sign * value:.2f}" for (name, h), (value, _) in trends.items())
        return Outcome.of(signs, f"clearly in {signs.count(1)} of {len(trends)} curves; rank correlation {text}")

    return _along_epsilon_1(outcome)


_VALUES = np.array(list(map(float, EPSILON_1S[2:-2])))  # values with two neighbours on either side
_NEAR = (_VALUES >= 1) & (_VALUES <= 2)


def _smooth(means: Floats) -> Floats:
    return np.convolve(np.log(means), np.ones(5) / 5, mode="valid")


def _lower(means: Floats) -> float:
    """By how much the least error between 1 and 2 is below the least elsewhere."""
    curve = _smooth(means)
    return float(curve[~_NEAR].min() - curve[_NEAR].min())


def _best_epsilon_1(curves: Curves) -> Outcome:
    signs = [side(between(_lower, curve)) for curve in curves.values()]
    best = {name: _VALUES[int(np.argmin(_smooth(_errors(curve))))] for name, curve in curves.items()}
    text = ", ".join(f"{name} h={h}: {value:.1f}" for (name, h), value in best.items())
    return Outcome.of(
        signs, f"clearly in {signs.count(1)} of {len(best)} curves; least expected error (mean of 5 points) at {text}"
    )


BEST_EPSILON_1 = _along_epsilon_1(_best_epsilon_1)
"""The error is least between ε1 = 1 and 2, in every curve."""
