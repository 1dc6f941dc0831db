"""Checks of errors: over all graphs, and by p."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from evaluation.claims.comparing import between, clearly, geometric, ratio, side
from evaluation.claims.judging import Check, Outcome, digits, series
from evaluation.claims.settings import Panel, Setting, compared, in_panels, setting
from evaluation.experiments import ALL, EPSILONS_BY_P, HS_BY_P, P_VALUES
from evaluation.results import Errors, Quantity, mean_of

_MOST = 0.95  # among many points some are within each other's noise

By = Literal["p", "h", "epsilon_1", "graph"]
"""The parameters by which errors are shown."""

_SIGNS = {"epsilon_1": "ε1"}


def _error(errors: Errors) -> float:
    return mean_of(errors, "expected").value


def outperforms(settings: Sequence[Setting], by: By) -> Check:
    """`published` expects clearly smaller errors at 95 % of the settings at least, and clearly larger ones at none."""

    def outcome(pairs: Panel) -> Outcome:
        better = [at for at, published, elv in pairs if _error(published) < _error(elv)]
        clear = sum(clearly(published, elv) for _, published, elv in pairs)
        worse = sum(clearly(elv, published, among=len(pairs)) for _, published, elv in pairs)
        holds = clear >= _MOST * len(pairs) and worse == 0
        return Outcome(
            holds,
            f"smaller at {len(better)} of {len(pairs)} points (clearly at {clear}, clearly larger at {worse}); "
            f"expected error of elv over that of published by {_SIGNS.get(by, by)}: {_ratios(pairs, by)}",
            clear=holds or worse > 0,
        )

    return compared(settings, outcome)


def _ratios(pairs: Panel, by: By) -> str:
    """The errors of `elv` as multiples of those of `published`, by a parameter."""
    ratios: dict[object, list[float]] = {}
    for at, published, elv in pairs:
        ratios.setdefault(at[by], []).append(ratio(_error(elv), _error(published)))
    if len(ratios) <= 12:  # there are more values of ε1 than a person reads
        return ", ".join(f"{value} ×{digits(geometric(factors))}" for value, factors in ratios.items())
    spread = [factor for factors in ratios.values() for factor in factors]
    return f"between ×{digits(min(spread))} and ×{digits(max(spread))}, median ×{digits(float(np.median(spread)))}"


def two_orders(epsilon: str) -> Check:
    """`published` expects an error below that of `elv` by a factor of 10^1.5 on SisterCity."""

    def outcome(pairs: Panel) -> Outcome:
        ((_, published, elv),) = pairs
        orders = between(lambda means: np.log10(means[0] / means[1]), (elv, published))
        runs = " against ".join(f"{mean_of(errors, 'total').value:.3g}" for errors in (elv, published))
        text = f"×{10 ** orders[0]:.3g} (in the runs {runs})"
        return Outcome.of([side(orders, 1.5)], text)

    return compared([setting("SisterCity", 3, epsilon)], outcome)


def smaller_for_published(quantity: Quantity, words: str) -> Check:
    """Something is smaller for `published` than for `elv` on all graphs, at ε = 10."""

    def outcome(pairs: Panel) -> Outcome:
        signs = [
            clearly(published, elv, quantity) - clearly(elv, published, quantity, among=len(pairs))
            for _, published, elv in pairs
        ]
        numbers = ", ".join(
            f"{at['graph']} {digits(mean_of(elv, quantity).value)} and {digits(mean_of(published, quantity).value)}"
            for at, published, elv in pairs
        )
        return Outcome.of(
            signs, f"clearly at {signs.count(1)} of {len(pairs)}: {words} of elv and of published {numbers}"
        )

    return compared([setting(name, 3, "10") for name in ALL], outcome)


def by_p(graph: str, k: int) -> list[list[Setting]]:
    """Return the settings of a figure by p: a list for each h and ε."""
    return [[setting(graph, k, epsilon, h, p) for p in P_VALUES] for h in HS_BY_P for epsilon in EPSILONS_BY_P]


def _name(panel: Panel) -> str:
    at, *_ = panel[0]
    return f"h={at['h']}, ε={at['epsilon']}"


def error_rises(graph: str, k: int, quantity: Quantity = "expected") -> Check:
    """The error of `published` is clearly larger at the largest p than at the least, and clearly falls at no step."""

    def outcome(panels: list[Panel]) -> Outcome:
        signs, texts = [], []
        for panel in panels:
            results = [published for _, published, _ in panel]
            steps = len(results) - 1
            falls = any(clearly(b, a, quantity, among=steps) for a, b in pairwise(results))
            falls = falls or clearly(results[-1], results[0], quantity)
            signs.append(-1 if falls else int(clearly(results[0], results[-1], quantity)))
            first, *others = (mean_of(result, quantity).value for result in results)
            texts.append(f"{_name(panel)}: {series([ratio(other, first) for other in others])}")
        return Outcome.of(
            signs,
            f"in {signs.count(1)} of {len(texts)} panels; from p=0.2 on, as multiples of p=0.1: {'; '.join(texts)}",
        )

    return in_panels(by_p(graph, k), outcome)


def no_longer_better(graph: str, k: int, first: int) -> Check:
    """From some p on `published` has clearly smaller errors than `elv` at no point."""

    def outcome(pairs: Panel) -> Outcome:
        better = sum(clearly(published, elv, among=len(pairs)) for _, published, elv in pairs)
        return Outcome(better == 0, f"clearly smaller at {better} of {len(pairs)} points")

    return compared([at for part in by_p(graph, k) for at in part[first:]], outcome)


def rises_slowly(graph: str, k: int) -> Check:
    """The error of `published` rises by a smaller factor from p = 0.4 to 0.8 than from 0.1 to 0.4."""

    def outcome(panels: list[Panel]) -> Outcome:
        signs, texts = [], []
        for panel in panels:
            results = [panel[i][1] for i in (0, 3, 7)]
            signs.append(side(between(lambda means: np.log(means[1] ** 2 / means[0] / means[2]), results)))
            early, late = (ratio(_error(b), _error(a)) for a, b in pairwise(results))
            texts.append(f"{_name(panel)}: ×{early:.3g}, then ×{late:.3g}")
        return Outcome.of(
            signs,
            f"clearly in {signs.count(1)} of {len(texts)} panels; from p=0.1 to 0.4, then to 0.8: {'; '.join(texts)}",
        )

    return in_panels(by_p(graph, k), outcome)
