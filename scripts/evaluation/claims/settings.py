"""`published` beside `elv` at the settings of a figure: the frames that checks of releases share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypedDict, TypeVar

from evaluation.cells import ReleaseCell, Switches
from evaluation.claims.judging import Check, Outcome
from evaluation.finished_cells import Finished, Selection
from evaluation.results import Errors, Refused, with_expected

S = TypeVar("S")
V = TypeVar("V")


class Setting(TypedDict):
    """Parameters of a release, without mechanism and switches."""

    graph: str
    k: int
    epsilon: str
    h: int
    p: str
    epsilon_1: str | None


Pair = tuple[Setting, Errors, Errors]
"""A setting, and the errors of `published` and of `elv` at it."""

Panel = list[Pair]
"""What a panel of a figure shows, in the order of the parameter that is swept."""


def setting(graph: str, k: int, epsilon: str, h: int = 3, p: str = "0.1", epsilon_1: str | None = None) -> Setting:
    """Return a setting, with the evaluation's usual values unless others are given."""
    return {"graph": graph, "k": k, "epsilon": epsilon, "h": h, "p": p, "epsilon_1": epsilon_1}


def curves_of(panel: Panel) -> tuple[list[Errors], list[Errors]]:
    """Return the curves of `published` and of `elv`."""
    return [published for _, published, _ in panel], [elv for _, _, elv in panel]


def compared(settings: Sequence[Setting], outcome: Callable[[Panel], Outcome]) -> Check:
    """Return the check that decides on the pairs at all settings."""
    return in_panels([settings], lambda panels: outcome(panels[0]))


def in_panels(panels: Sequence[Sequence[Setting]], outcome: Callable[[list[Panel]], Outcome]) -> Check:
    """Return the check that decides on the panels of a figure; each panel has the pairs at some settings.

    Their `expected` errors are compared as both sides draw the same noise: by λ, but with the switch `inside` by runs.
    """

    def check(finished: Finished, switches: Switches) -> Outcome | None:
        filled: list[Panel] = []
        for settings in panels:
            panel: Panel = []
            for at in settings:
                published, elv = _published(finished, switches, at), _elv(finished, switches, at)
                if published is None or elv is None:
                    return None
                panel.append((at, published, elv))
            filled.append(panel)
        return outcome(filled)

    return check


def _published(finished: Finished, switches: Switches, at: Setting) -> Errors | None:
    return _expected(finished.releases.where(mechanism="published", switches=switches, **at))


def _elv(finished: Finished, switches: Switches, at: Setting) -> Errors | None:
    """The errors of `elv`, which has no p."""
    return _expected(
        finished.releases.where(
            mechanism="elv",
            switches=switches,
            graph=at["graph"],
            k=at["k"],
            epsilon=at["epsilon"],
            h=at["h"],
            epsilon_1=at["epsilon_1"],
        )
    )


def _expected(cells: Selection[ReleaseCell, Errors | Refused]) -> Errors | None:
    """The errors of the only cell, with those that it expects."""
    if len(cells) != 1:
        return None
    ((cell, result),) = cells
    if "refused" in result:
        return None
    return with_expected(result, float(cell.parts[1]), everywhere="inside" not in cell.switches)


def at_settings(
    settings: Sequence[S], value_of: Callable[[Finished, S], V | None], outcome: Callable[[list[tuple[S, V]]], Outcome]
) -> Check:
    """Return the check that decides on one value at each setting, whatever the switches.

    `value_of` returns None if the cell with the value is missing.
    """

    def check(finished: Finished, _: Switches) -> Outcome | None:
        values: list[tuple[S, V]] = []
        for at in settings:
            value = value_of(finished, at)
            if value is None:
                return None
            values.append((at, value))
        return outcome(values)

    return check
