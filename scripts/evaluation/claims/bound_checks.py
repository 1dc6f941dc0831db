"""Checks of the bound of the local sensitivity by h."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from evaluation.claims.comparing import Floats, alike, between, clearly, ranks, side
from evaluation.claims.judging import Check, Outcome
from evaluation.claims.settings import Panel, curves_of, in_panels, setting
from evaluation.experiments import EPSILONS_BY_H, HS
from evaluation.results import Errors, mean_of

Curves = dict[str, tuple[list[Errors], list[Errors]]]
"""`published` and `elv` by h, for each ε."""


def _by_h(outcome: Callable[[Curves], Outcome]) -> Check:
    def of_panels(panels: list[Panel]) -> Outcome:
        return outcome(dict(zip(EPSILONS_BY_H, map(curves_of, panels), strict=True)))

    return in_panels([[setting("Celegans", 3, epsilon, h) for h in HS] for epsilon in EPSILONS_BY_H], of_panels)


def _bound(result: Errors) -> float:
    return mean_of(result, "bound").value


def _similar(bounds: Curves) -> Outcome:
    correlations = {epsilon: alike(published, elv, ranks, "bound") for epsilon, (published, elv) in bounds.items()}
    text = ", ".join(f"ε={epsilon}: {value:.2f}" for epsilon, (value, _) in correlations.items())
    return Outcome.of([sign for _, sign in correlations.values()], f"rank correlation over h: {text}")


def _optimal(bounds: Curves) -> Outcome:
    best, good = {}, 0
    for epsilon, both in bounds.items():
        for name, results in zip(("published", "elv"), both, strict=True):
            least = min(results, key=_bound)
            best[name, epsilon] = HS[results.index(least)]
            good += not all(clearly(least, results[HS.index(h)], "bound") for h in (2, 3))
    text = ", ".join(f"{name} ε={epsilon}: h={h}" for (name, epsilon), h in sorted(best.items()))
    return Outcome(good >= len(best) - 1, f"in {good} of {len(best)} curves; least bound of {text}")


def _tighter(bounds: Curves) -> Outcome:
    results = [result for both in bounds.values() for curve in both for result in curve]

    def ratios(means: Floats) -> Floats:
        least = means.reshape(len(bounds), 2, len(HS)).min(axis=2)
        return np.log(least[:, 1] / least[:, 0])

    shown = np.exp(ratios(np.array([_bound(result) for result in results])))
    text = ", ".join(f"ε={epsilon}: ×{ratio:.3g}" for epsilon, ratio in zip(bounds, shown, strict=True))
    steps = [partial(lambda means, i: float(np.diff(ratios(means))[i]), i=i) for i in range(len(bounds) - 1)]
    signs = [side(between(step, results, "bound")) for step in (*steps, lambda means: float(ratios(means)[-1]))]
    return Outcome.of(signs, f"least bound of elv over that of published: {text}")


SIMILAR_BY_H = _by_h(_similar)
"""The bounds of `published` and `elv` follow similar trends in h."""

OPTIMAL_H = _by_h(_optimal)
"""h = 2 or 3 gives the least bound, or one that is not told apart from it, in all curves but one."""

TIGHTER_WITH_EPSILON = _by_h(_tighter)
"""The least bound of `elv` over that of `published` grows with every ε, and is above 1 at the largest."""
