"""How a mechanism is drawn in a panel: its series of marks, and the legend."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from evaluation.cells import ReleaseCell
from evaluation.experiments import paper_switches
from evaluation.finished_cells import C, R, Selection
from evaluation.results import Errors, Mean, Quantity, Refused, mean_or_none
from pcneo import plots

__all__ = [
    "ALL_SERIES",
    "CONFIDENCE",
    "MEASURES",
    "NO_ERROR",
    "PROMISES",
    "REFUSED",
    "Along",
    "Points",
    "Series",
    "Shown",
    "at_edge",
    "draw_series",
    "labelled",
    "legend",
    "points_of",
    "swept",
]

PROMISES = "At equal ε the mechanisms promise different things; published promises nothing."

MEASURES: Mapping[Quantity, str] = {
    "total": "relative error of the total",
    "local": "relative error of local counts",
    "absolute": "error of local counts (cliques)",
}

CONFIDENCE = 1.96
"""Standard errors to either side of a mean that make its 95 % interval."""

_LABELS = {
    "elv": "elv (extended local views)",
    "published": "published (promises nothing)",
    "critical": "critical (pairs inside groups)",
    "edge": "edge (every connection)",
}
REFUSED = "refused for size"
"""The legend's words for marks on the upper edge."""

NO_ERROR = "no error at all"
"""The legend's words for marks on the lower edge."""

Along: TypeAlias = Literal["p", "h", "epsilon", "epsilon_1"]
"""A parameter that a figure sweeps."""


class Series:
    """A mechanism as released, or with the paper's switches: its look and its label."""

    def __init__(self, mechanism: str, *, switched: bool) -> None:
        """Take the look of a mechanism, with or without the paper's switches."""
        look = plots.look(mechanism)
        self.mechanism, self._switched = mechanism, switched
        self.label = _LABELS[mechanism] + (", the paper's switches" if switched else "")
        self.colour = look.colour
        self.style: dict[str, Any] = {"color": look.colour, "linestyle": look.dash, "marker": look.marker}
        if switched:
            self.style |= {"markerfacecolor": "white", "markeredgewidth": 0.7, "linewidth": 0.8}

    def of(self, cells: Selection[C, R], k: int) -> Selection[C, R]:
        """Return those of releases or losses at k that the series shows."""
        return cells.where(mechanism=self.mechanism, switches=paper_switches(k) if self._switched else ())


ALL_SERIES = [
    *(Series(name, switched=False) for name in _LABELS),
    *(Series(name, switched=True) for name in ("elv", "published")),
]
"""In the order of the legend."""

Points: TypeAlias = list[tuple[float, Errors | Refused]]
"""Results by the swept parameter."""


@dataclass(frozen=True)
class Shown:
    """The parameters that a panel is for; those that are None it does not set."""

    h: int | None = None
    epsilon: str | None = None

    def has(self, cell: ReleaseCell) -> bool:
        """Whether a cell belongs into the panel: a mechanism without h belongs into the panels of every h."""
        of_h = self.h is None or cell.h is None or cell.h == self.h
        return of_h and (self.epsilon is None or cell.epsilon == self.epsilon)

    @property
    def title(self) -> str:
        """The panel's title."""
        parts = (("h", self.h), ("ε", self.epsilon))
        return ", ".join(f"{sign} = {value}" for sign, value in parts if value is not None)


def swept(cell: ReleaseCell, along: Along) -> float | None:
    """Return the value of the swept parameter; None for a mechanism that does not have it."""
    value: str | int | None = getattr(cell, along)
    return None if value is None else float(value)


def points_of(cells: Selection[ReleaseCell, Errors | Refused], series: Series, along: Along, shown: Shown) -> Points:
    """Return the results of a series in a panel; a result that does not depend on the swept parameter is at NaN."""
    k = cells.values(lambda cell: cell.k)[0]
    points: Points = []
    for cell, result in series.of(cells, k):
        if shown.has(cell):
            at = swept(cell, along)
            points.append((math.nan if at is None else at, result))
    return sorted(points, key=lambda point: point[0])


def at_edge(axes: Any, xs: Sequence[float], height: float, series: Series, words: str, marker: str = "x") -> None:
    """Mark what a logarithmic axis cannot show, at a height between 0 and 1, and name it in the legend."""
    if xs:
        axes.plot(
            xs,
            [height] * len(xs),
            marker,
            color=series.colour,
            transform=axes.get_xaxis_transform(),
            label=f"{series.label}: {words}",
            clip_on=False,
        )


def _means(points: Points, quantity: Quantity) -> list[tuple[float, Mean]]:
    return [(x, mean) for x, result in points if (mean := mean_or_none(result, quantity)) is not None]


def draw_series(axes: Any, series: Series, points: Points, quantity: Quantity, ends: tuple[float, float]) -> None:
    """Draw a series: a line with its band, and marks on the edges for what a logarithmic axis cannot show.

    Args:
        axes: the panel.
        series: the mechanism.
        points: its results.
        quantity: the mean that is drawn.
        ends: of the axis.
    """
    middle = sum(ends) / 2  # for what does not depend on the swept parameter
    places = [(middle if np.isnan(x) else x, result) for x, result in points]
    at_edge(axes, [x for x, result in places if "refused" in result], 0.97, series, REFUSED)
    at_edge(axes, [x for x, mean in _means(places, quantity) if mean.value == 0], 0.03, series, NO_ERROR, "v")
    drawn = [(x, mean) for x, mean in _means(points, quantity) if mean.value > 0]
    if not drawn:
        return
    xs = np.array([x for x, _ in drawn])
    means, errors = np.array([mean.value for _, mean in drawn]), np.array([mean.error for _, mean in drawn])
    style = dict(series.style)
    if np.isnan(xs).any():  # the series does not depend on the swept parameter
        xs, means, errors, style["marker"] = np.array(ends), means[[0, 0]], errors[[0, 0]], ""
    if len(xs) > 15:
        style["markevery"] = 6
    axes.plot(xs, means, label=series.label, **style)
    band = CONFIDENCE * errors
    axes.fill_between(xs, np.maximum(means - band, means * 0.02), means + band, color=series.colour, alpha=0.25, lw=0)


def labelled(*panels: Any) -> dict[str, Any]:
    """Return the marks of panels by their labels, without repetitions."""
    marks: dict[str, Any] = {}
    for panel in panels:
        marks |= dict(zip(*reversed(panel.get_legend_handles_labels()), strict=True))
    return marks


def legend(figure: Any, marks: Mapping[str, Any], title: str = PROMISES) -> None:
    """Put the legend under the panels: marks by their labels."""
    figure.legend(list(marks.values()), list(marks), loc="outside lower center", ncols=2, title=title, title_fontsize=8)
