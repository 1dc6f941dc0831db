"""A mechanism's marks in a panel of a figure of releases, and the legend that names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evaluation.cells import Result
from evaluation.experiments import paper_switches
from evaluation.finished_cells import Finished
from pcneo import plots

__all__ = [
    "ALL_SERIES",
    "CONFIDENCE",
    "MEASURES",
    "NO_ERROR",
    "PROMISES",
    "REFUSED",
    "Points",
    "Series",
    "at_edge",
    "draw_series",
    "labelled",
    "legend",
    "points_of",
]

PROMISES = "At equal ε the mechanisms promise different things; published promises nothing."

MEASURES = {
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
"""What the legend says of marks on the upper edge."""

NO_ERROR = "no error at all"
"""What it says of those on the lower edge."""


class Series:
    """One mechanism as released, or with the paper's switches: how it looks, and what it is called."""

    def __init__(self, mechanism: str, *, switched: bool) -> None:
        """Take the look of a mechanism, with or without the paper's switches."""
        look = plots.look(mechanism)
        self.mechanism, self.switched = mechanism, switched
        self.label = _LABELS[mechanism] + (", the paper's switches" if switched else "")
        self.colour = look.colour
        self.style: dict[str, Any] = {"color": look.colour, "linestyle": look.dash, "marker": look.marker}
        if switched:
            self.style |= {"markerfacecolor": "white", "markeredgewidth": 0.7, "linewidth": 0.8}


ALL_SERIES = [
    *(Series(name, switched=False) for name in _LABELS),
    *(Series(name, switched=True) for name in ("elv", "published")),
]
"""In the order of the legend."""

Points = list[tuple[float, Result]]
"""Results by what is swept."""


def points_of(finished: Finished, series: Series, along: str, given: Mapping[str, Any]) -> Points:
    """Return the results of one series by the swept parameter; one that does not depend on it is one point, at NaN."""
    switches = paper_switches(finished.values("k")[0]) if series.switched else ()
    mine = finished.where(kind="release", mechanism=series.mechanism, switches=switches)
    has = {name: value for name, value in given.items() if any(getattr(cell, name) is not None for cell, _ in mine)}
    found: Points = []
    for cell, result in mine.where(**has):
        at = getattr(cell, along)
        found.append((float("nan") if at is None else float(at), result))
    return sorted(found, key=lambda point: point[0])


def at_edge(axes: Any, xs: Sequence[float], height: float, series: Series, what: str, marker: str = "x") -> None:
    """Mark what a logarithmic axis has no place for, at a height between 0 and 1, and name it in the legend."""
    if xs:
        axes.plot(
            xs,
            [height] * len(xs),
            marker,
            color=series.colour,
            transform=axes.get_xaxis_transform(),
            label=f"{series.label}: {what}",
            clip_on=False,
        )


def draw_series(axes: Any, series: Series, points: Points, measure: str, ends: tuple[float, float]) -> None:
    """Draw a series: a line with its band, and marks on the edges for what a logarithmic axis has no place for.

    Args:
        axes: the panel.
        series: the mechanism.
        points: its results.
        measure: what is drawn of them.
        ends: of the axis.
    """
    middle = sum(ends) / 2  # of what does not depend on what is swept
    places = [(middle if np.isnan(x) else x, result) for x, result in points]
    at_edge(axes, [x for x, result in places if "refused" in result], 0.97, series, REFUSED)
    at_edge(axes, [x for x, result in places if result.get(measure) == 0], 0.03, series, NO_ERROR, "v")
    shown = [(x, result) for x, result in points if result.get(measure, 0) > 0]
    if not shown:
        return
    xs = np.array([x for x, _ in shown])
    means, errors = (np.array([result[name] for _, result in shown]) for name in (measure, f"{measure}_error"))
    style = dict(series.style)
    if np.isnan(xs).any():  # it does not depend on what is swept
        xs, means, errors, style["marker"] = np.array(ends), means[[0, 0]], errors[[0, 0]], ""
    if len(xs) > 15:
        style["markevery"] = 6
    axes.plot(xs, means, label=series.label, **style)
    band = CONFIDENCE * errors
    axes.fill_between(xs, np.maximum(means - band, means * 0.02), means + band, color=series.colour, alpha=0.25, lw=0)


def labelled(*panels: Any) -> dict[str, Any]:
    """Return what the marks of panels are, by label, each once."""
    seen: dict[str, Any] = {}
    for panel in panels:
        seen |= dict(zip(*reversed(panel.get_legend_handles_labels()), strict=True))
    return seen


def legend(figure: Any, seen: Mapping[str, Any], title: str = PROMISES) -> None:
    """Put a legend of mechanisms under the panels, by label."""
    figure.legend(list(seen.values()), list(seen), loc="outside lower center", ncols=2, title=title, title_fontsize=8)
