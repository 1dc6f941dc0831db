"""Errors and losses of all mechanisms, with all graphs side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluation.cells import LossCell
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
from evaluation.experiments import LOSSES
from evaluation.finished_cells import C, Finished, R, Selection
from evaluation.results import Losses, Quantity, Refused, mean_or_none
from pcneo import plots

__all__ = ["OVER_GRAPHS", "draw_losses", "draw_over_graphs"]

OVER_GRAPHS = ("all-10", "all-5", "all-10-k4")
"""The figures of errors on all graphs."""


def draw_over_graphs(finished: Finished, path: Path, measure: Quantity) -> None:
    """Draw a measure of all mechanisms, with its confidence intervals."""
    names, k = finished.graph_names, finished.releases.values(lambda cell: cell.k)[0]
    with plots.new_figure(1, 1, height=3.8) as (figure, axes):
        place = axes[0, 0]
        for series in ALL_SERIES:
            results = _by_place(series, names, series.of(finished.releases, k))
            points = [(at, mean) for at, result in results if (mean := mean_or_none(result, measure)) is not None]
            drawn = [(at, mean) for at, mean in points if mean.value > 0]
            errors = [CONFIDENCE * mean.error for _, mean in drawn]
            low = [min(error, 0.98 * mean.value) for (_, mean), error in zip(drawn, errors, strict=True)]
            style = {**series.style, "linestyle": "", "label": series.label}
            means = [mean.value for _, mean in drawn]
            place.errorbar([at for at, _ in drawn], means, yerr=[low, errors], elinewidth=0.8, **style)
            at_edge(place, [at for at, result in results if "refused" in result], 0.98, series, REFUSED)
            at_edge(place, [at for at, mean in points if mean.value == 0], 0.02, series, NO_ERROR, "v")
        _dress(place, names, MEASURES[measure])
        legend(figure, labelled(place))
        plots.save_figure(figure, path)


def draw_losses(finished: Finished, path: Path) -> None:
    """Draw the worst loss of one connection, as a multiple of ε."""
    names = finished.graph_names
    with plots.new_figure(len(LOSSES), 1, height=6.8, sharex=True, sharey=True) as (figure, axes):
        for place, (k, epsilon) in zip(axes[:, 0], LOSSES, strict=True):
            _draw_losses(place, finished.losses.where(k=k, epsilon=epsilon), names, k, float(epsilon))
            place.axhline(1, color="black", lw=0.8)
            place.set_title(f"k = {k}, ε = {epsilon}")
            _dress(place, names, "worst loss / ε")
        legend(figure, labelled(axes[0, 0]), f"On the upper edge: infinite. {PROMISES}")
        plots.save_figure(figure, path)


def _draw_losses(
    place: Any, cells: Selection[LossCell, Losses | Refused], names: Sequence[str], k: int, epsilon: float
) -> None:
    """Draw one panel; an infinite loss is on the upper edge."""
    infinite: list[tuple[float, Series]] = []
    inside: list[tuple[float, float]] = []
    for series in ALL_SERIES:
        results = [
            (at, result) for at, result in _by_place(series, names, series.of(cells, k)) if "connections" in result
        ]
        if series.mechanism == "critical":
            inside = [(at, result["inside"] / epsilon) for at, result in results if "inside" in result]
        infinite += [(at, series) for at, result in results if result["connections"] == math.inf]
        finite = [(at, result["connections"] / epsilon) for at, result in results if result["connections"] < math.inf]
        style = {**series.style, "linestyle": "", "label": series.label}
        place.plot([at for at, _ in finite], [loss for _, loss in finite], **style)
    if inside:
        style = {**Series("critical", switched=True).style, "linestyle": ""}
        place.plot(*zip(*inside, strict=True), **style, label="critical, loss of a pair inside groups")
    for at, series in infinite:
        style = {**series.style, "linestyle": "", "clip_on": False}
        place.plot([at], [1.0], transform=place.get_xaxis_transform(), **style)


def _by_place(series: Series, names: Sequence[str], cells: Selection[C, R]) -> list[tuple[float, R]]:
    """The results of a series with the places of its marks: beside those of the others, around each graph's place."""
    beside = (ALL_SERIES.index(series) - (len(ALL_SERIES) - 1) / 2) * 0.13
    results = ((i + beside, cells.only(graph=name)) for i, name in enumerate(names))
    return [(at, result) for at, result in results if result is not None]


def _dress(place: Any, names: Sequence[str], label: str) -> None:
    """Set up the axes of a panel with all graphs."""
    for i in range(len(names) - 1):
        place.axvline(i + 0.5, color="#BBBBBB", lw=0.5)
    place.set_yscale("log")
    place.set_xticks(range(len(names)), names)
    place.grid(False, axis="x")
    place.set_ylabel(label)
