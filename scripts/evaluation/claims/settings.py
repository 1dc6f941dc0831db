"""`published` beside `elv` at the settings of a figure: the frames of what is checked about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from evaluation.cells import Result
from evaluation.claims.judging import Check, Outcome
from evaluation.finished_cells import Finished

__all__ = ["Pair", "Panel", "Setting", "at_each", "compared", "in_panels", "setting"]

Setting = dict[str, Any]
"""Parameters of a release, by name, but for mechanism and switches."""

Pair = tuple[Setting, Result, Result]
"""A setting, and the results of `published` and of `elv` at it."""

Panel = list[Pair]
"""What a panel of a figure shows, by what is swept."""


def setting(graph: str, k: int, epsilon: str, h: int = 3, p: str = "0.1", epsilon_1: str | None = None) -> Setting:
    """Return a setting, with the evaluation's usual values for what is not given."""
    return {"graph": graph, "k": k, "epsilon": epsilon, "h": h, "p": p, "epsilon_1": epsilon_1}


def compared(settings: Sequence[Setting], outcome: Callable[[Panel], Outcome]) -> Check:
    """Return the check that takes its outcome from the pairs at all settings."""
    return in_panels([settings], lambda panels: outcome(panels[0]))


def in_panels(panels: Sequence[Sequence[Setting]], outcome: Callable[[list[Panel]], Outcome]) -> Check:
    """Return the check that takes its outcome from the panels of a figure, each the pairs at some settings."""

    def check(finished: Finished, switches: tuple[str, ...]) -> Outcome | None:
        found: list[Panel] = []
        for settings in panels:
            panel: Panel = []
            for given in settings:
                published, elv = (_release(finished, name, switches, **given) for name in ("published", "elv"))
                if published is None or elv is None:
                    return None
                panel.append((given, published, elv))
            found.append(panel)
        return outcome(found)

    return check


def _release(finished: Finished, mechanism: str, switches: tuple[str, ...], **given: Any) -> Result | None:
    if mechanism == "elv":
        given.pop("p", None)
    return finished.one(kind="release", mechanism=mechanism, switches=switches, **given)


def at_each(
    cells: Sequence[dict[str, Any]], quantity: str, outcome: Callable[[list[tuple[dict[str, Any], float]]], Outcome]
) -> Check:
    """Return the check that takes its outcome from one number of each of some cells, on which no switch bears.

    Args:
        cells: their parameters.
        quantity: the number; a cell without it is missing.
        outcome: takes the parameters of each with the number.
    """

    def check(finished: Finished, _: tuple[str, ...]) -> Outcome | None:
        found = []
        for cell in cells:
            result = finished.one(**cell)
            if result is None or quantity not in result:
                return None
            found.append((cell, float(result[quantity])))
        return outcome(found)

    return check
