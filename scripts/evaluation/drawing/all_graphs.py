"""Errors and losses of all mechanisms, with all graphs side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluation.cells import LossCell
from evaluation.drawing.marks import (
    CONFIDENCE,
    MEASURES,
    NO_ERROR,
    PAPERS,
    PROMISES,
    PROMISING,
    REFUSED,
    ZEROS,
    Series,
    at_edge,
    picture,
)
from evaluation.experiments import LOSSES
from evaluation.finished_cells import C, Finished, R, Selection
from evaluation.results import Losses, Quantity, Refused, mean_or_none

OVER_GRAPHS = ("all-10", "all-5", "all-1", "all-10-k4")
"""The figures of errors on all graphs."""

_TITLES = ("mechanisms that promise something", "the paper's two phases, over local views and over cohesions")

_LOSSES_NOTE = (
    f"On the upper edge: infinite. {PROMISES}\n"
    "respond is not here: with randomised response every pair loses the same, on every graph."
)

_WIDTH = 0.84
"""Of the room between two graphs, what their marks take."""

Places = Sequence[tuple[float, R]]
"""Results with the places of their marks."""


def draw_over_graphs(finished: Finished, path: Path, measure: Quantity, heading: str) -> None:
    """Draw a measure, with its confidence intervals: what promises something above, the paper's mechanism below."""
    names, releases = finished.graph_names, finished.releases
    k = releases.values(lambda cell: cell.k)[0]
    with picture(path, heading, 2, 1, height=6.6, shared=True) as axes:
        for place, family, title in zip(axes[:, 0], (PROMISING, PAPERS[k]), _TITLES, strict=True):
            family = [series for series in family if len(series.of(releases, k)) and series.measured(measure)]
            for i, series in enumerate(family):
                _draw_errors(place, series, _beside(i, len(family), names, series.of(releases, k)), measure)
            if measure == "absolute":
                _draw_zeros(place, finished, names)
            place.set_title(title)
            _dress(place, names, MEASURES[measure])


def _draw_errors(place: Any, series: Series, results: Places[Any], measure: Quantity) -> None:
    quantity = series.measured(measure) or measure
    points = [(at, mean) for at, result in results if (mean := mean_or_none(result, quantity)) is not None]
    drawn = [(at, mean) for at, mean in points if mean.value > 0]
    errors = [CONFIDENCE * mean.error for _, mean in drawn]
    low = [min(error, 0.98 * mean.value) for (_, mean), error in zip(drawn, errors, strict=True)]
    style = {**series.style, "linestyle": "", "label": series.label}
    means = [mean.value for _, mean in drawn]
    if drawn:
        place.errorbar([at for at, _ in drawn], means, yerr=[low, errors], elinewidth=0.8, **style)
    at_edge(place, [at for at, result in results if "refused" in result], series, REFUSED)
    at_edge(place, [at for at, mean in points if mean.value == 0], series, NO_ERROR)


def _draw_zeros(place: Any, finished: Finished, names: Sequence[str]) -> None:
    """Mark the mean count of each graph, the error of publishing zeros."""
    counts = [(i, cliques["mean"]) for i, name in enumerate(names) if (cliques := finished.cliques.only(graph=name))]
    if drawn := [(i, mean) for i, mean in counts if mean > 0]:
        ends = [(i - _WIDTH / 2, i + _WIDTH / 2) for i, _ in drawn]
        place.hlines(
            [mean for _, mean in drawn], *zip(*ends, strict=True), color="#777777", lw=1.0, zorder=1, label=ZEROS
        )


def draw_losses(finished: Finished, path: Path, heading: str) -> None:
    """Draw the worst loss of one connection, as a multiple of ε."""
    names = finished.graph_names
    with picture(path, heading, len(LOSSES), 1, height=8.2, note=_LOSSES_NOTE, shared=True) as axes:
        for place, (k, epsilon) in zip(axes[:, 0], LOSSES, strict=True):
            cells = finished.losses.where(k=k, epsilon=epsilon)
            if len(cells):
                _draw_losses(place, cells, names, k, float(epsilon))
            place.axhline(1, color="black", lw=0.8, zorder=1, label="ε")
            place.axhline(
                0.9, color="black", lw=0.8, ls="--", zorder=1, label="ε2 = 0.9 ε, what edge and elv promise here"
            )
            place.set_title(f"k = {k}, ε = {epsilon}")
            _dress(place, names, "worst loss / ε")


def _draw_losses(
    place: Any, cells: Selection[LossCell, Losses | Refused], names: Sequence[str], k: int, epsilon: float
) -> None:
    """Draw one panel: of random λ the loss at its median, with a bar to its 5 % and 95 % quantiles."""
    family = [series for series in (*PROMISING, *PAPERS[k][1:]) if len(series.of(cells, k)) and _has_losses(series)]
    for i, series in enumerate(family):
        at = _beside(i, len(family) + 1, names, series.of(cells, k))
        results = [(x, result) for x, result in at if "connections" in result]
        style = {**series.style, "linestyle": "", "label": series.label}
        finite = [(x, result) for x, result in results if result["connections"] < math.inf]
        losses = [result["connections"] for _, result in finite]
        ends = [
            (result.get("connections_low", loss), result.get("connections_high", loss))
            for (_, result), loss in zip(finite, losses, strict=True)
        ]
        bars = [
            [(loss - low) / epsilon for loss, (low, _) in zip(losses, ends, strict=True)],
            [(high - loss) / epsilon for loss, (_, high) in zip(losses, ends, strict=True)],
        ]
        place.errorbar([x for x, _ in finite], [loss / epsilon for loss in losses], yerr=bars, elinewidth=0.8, **style)
        if infinite := [x for x, result in results if result["connections"] == math.inf]:
            style["clip_on"] = False
            place.plot(infinite, [1.0] * len(infinite), transform=place.get_xaxis_transform(), **style)


def _has_losses(series: Series) -> bool:
    return series.variant != "smoothed"


def _beside(i: int, count: int, names: Sequence[str], cells: Selection[C, R]) -> list[tuple[float, R]]:
    """The results of series i of so many with the places of its marks, side by side around each graph's place."""
    beside = (i - (count - 1) / 2) * _WIDTH / max(count, 1)
    results = ((at + beside, cells.only(graph=name)) for at, name in enumerate(names))
    return [(at, result) for at, result in results if result is not None]


def _dress(place: Any, names: Sequence[str], label: str) -> None:
    """Set up the axes of a panel with all graphs."""
    for i in range(len(names) - 1):
        place.axvline(i + 0.5, color="#BBBBBB", lw=0.5)
    place.set_yscale("log")
    place.set_xlim(-0.5, len(names) - 0.5)
    place.set_xticks(range(len(names)), names)
    place.grid(False, axis="x")
    place.set_ylabel(label)
