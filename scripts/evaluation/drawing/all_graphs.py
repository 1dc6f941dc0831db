"""Errors and losses of all mechanisms, all graphs side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from evaluation.drawing.marks import (
    ALL_SERIES,
    CONFIDENCE,
    MEASURES,
    NO_ERROR,
    PROMISES,
    REFUSED,
    Series,
    at_edge,
    labelled,
    legend,
)
from evaluation.experiments import LOSSES, paper_switches
from evaluation.finished_cells import Finished
from pcneo import plots

__all__ = ["OVER_GRAPHS", "draw_losses", "draw_over_graphs"]

OVER_GRAPHS = ("all-10", "all-5", "all-10-k4")
"""The figures of errors on all graphs."""


def draw_over_graphs(finished: Finished, path: Any, measure: str) -> None:
    """Draw a measure of all mechanisms, with its confidence intervals."""
    names = finished.values("graph")
    with plots.new_figure(1, 1, height=3.8) as (figure, axes):
        place = axes[0, 0]
        for series, mine in _each_series(finished, finished.values("k")[0]):
            found = [(at, mine.one(graph=name) or {}) for at, name in _places(series, names)]
            shown = [(at, result) for at, result in found if result.get(measure, 0) > 0]
            means = [result[measure] for _, result in shown]
            errors = [CONFIDENCE * result[f"{measure}_error"] for _, result in shown]
            low = [min(error, 0.98 * mean) for mean, error in zip(means, errors, strict=True)]
            style = {**series.style, "linestyle": "", "label": series.label}
            place.errorbar([at for at, _ in shown], means, yerr=[low, errors], elinewidth=0.8, **style)
            at_edge(place, [at for at, result in found if "refused" in result], 0.98, series, REFUSED)
            at_edge(place, [at for at, result in found if result.get(measure) == 0], 0.02, series, NO_ERROR, "v")
        _dress(place, names, MEASURES[measure])
        legend(figure, labelled(place))
        plots.save_figure(figure, path)


def draw_losses(finished: Finished, path: Any) -> None:
    """Draw the worst loss of one connection, over ε."""
    names = finished.values("graph")
    with plots.new_figure(len(LOSSES), 1, height=6.8, sharex=True, sharey=True) as (figure, axes):
        for place, (k, epsilon) in zip(axes[:, 0], LOSSES, strict=True):
            _draw_losses(place, finished.where(k=k, epsilon=epsilon), names, k, float(epsilon))
            place.axhline(1, color="black", lw=0.8)
            place.set_title(f"k = {k}, ε = {epsilon}")
            _dress(place, names, "worst loss / ε")
        legend(figure, labelled(axes[0, 0]), f"On the upper edge: infinite. {PROMISES}")
        plots.save_figure(figure, path)


def _draw_losses(place: Any, finished: Finished, names: Sequence[str], k: int, epsilon: float) -> None:
    """One panel; an infinite loss is on the upper edge."""
    infinite: list[tuple[float, Series]] = []
    inside: list[tuple[float, float]] = []
    for series, mine in _each_series(finished, k):
        found = [(at, mine.one(graph=name) or {}) for at, name in _places(series, names)]
        if series.mechanism == "critical":
            inside = [(at, result["inside"] / epsilon) for at, result in found if "inside" in result]
        infinite += [(at, series) for at, result in found if result.get("connections") == math.inf]
        shown = [(at, result["connections"] / epsilon) for at, result in found if "connections" in result]
        shown = [(at, loss) for at, loss in shown if loss < math.inf]
        style = {**series.style, "linestyle": "", "label": series.label}
        place.plot([at for at, _ in shown], [loss for _, loss in shown], **style)
    if inside:
        style = {**Series("critical", switched=True).style, "linestyle": ""}
        place.plot(*zip(*inside, strict=True), **style, label="critical, loss of a pair inside groups")
    for at, series in infinite:
        style = {**series.style, "linestyle": "", "clip_on": False}
        place.plot([at], [1.0], transform=place.get_xaxis_transform(), **style)


def _each_series(finished: Finished, k: int) -> Iterator[tuple[Series, Finished]]:
    """Each mechanism with its cells."""
    for series in ALL_SERIES:
        switches = paper_switches(k) if series.switched else ()
        yield series, finished.where(mechanism=series.mechanism, switches=switches)


def _places(series: Series, names: Sequence[str]) -> list[tuple[float, str]]:
    """Where a mechanism's marks are: beside those of the others, around the place of each graph."""
    beside = (ALL_SERIES.index(series) - (len(ALL_SERIES) - 1) / 2) * 0.13
    return [(i + beside, name) for i, name in enumerate(names)]


def _dress(place: Any, names: Sequence[str], quantity: str) -> None:
    """The axes of a panel with all graphs."""
    for i in range(len(names) - 1):
        place.axvline(i + 0.5, color="#BBBBBB", lw=0.5)
    place.set_yscale("log")
    place.set_xticks(range(len(names)), names)
    place.grid(False, axis="x")
    place.set_ylabel(quantity)
