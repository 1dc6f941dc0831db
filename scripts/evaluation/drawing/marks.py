"""How a mechanism is drawn in a panel: its series of marks, and the legend."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from evaluation.cells import INFERRED, PRINTED, ReleaseCell, Switches
from evaluation.finished_cells import C, R, Selection
from evaluation.results import Errors, Mean, Quantity, Refused, mean_or_none
from pcneo import plots
from pcneo.privacy.mechanisms import MECHANISMS
from pcneo.privacy.protection import Protects

PROMISES = "At equal ε the mechanisms promise different things; published promises nothing."

MEASURES: Mapping[Quantity, str] = {
    "total": "relative error of the total",
    "local": "relative error of local counts",
    "absolute": "error of local counts (cliques)",
}

CONFIDENCE = 1.96
"""Standard errors to either side of a mean that make its 95 % interval."""

_PROTECTED = {
    Protects.PAIRS_INSIDE_GROUPS: "pairs inside groups",
    Protects.EVERY_CONNECTION: "every connection",
    Protects.NOTHING: "nothing",
}
"""The legend's words for what a mechanism protects."""

REFUSED = "refused for size"
"""The legend's words for marks on the upper edge."""

NO_ERROR = "no error"
"""The legend's words for marks on the lower edge."""

ZEROS = "publishing zeros"
"""The legend's words for the mean count, which is the error of zeros."""

REFUSED_MARK, NO_ERROR_MARK = "x", "$0$"

Along: TypeAlias = Literal["p", "h", "epsilon", "epsilon_1"]
"""A parameter that a figure sweeps."""

Variant: TypeAlias = Literal["released", "printed", "inferred", "smoothed"]
"""How a mechanism is shown: as released, as the paper prints it, with the inference `inside`; or smoothed counts."""

_WORDS: Mapping[Variant, str] = {
    "printed": "as printed",
    "inferred": "inside inferred",
    "smoothed": "smoothed",
}


class Series:
    """A mechanism in one variant: its look and its label."""

    def __init__(self, mechanism: str, variant: Variant = "released") -> None:
        """Take the look of a mechanism; variants have hollow or pale marks."""
        look = plots.look(mechanism)
        self.mechanism, self.variant = mechanism, variant
        said = f" ({_PROTECTED[MECHANISMS[mechanism].protects]})" if variant == "released" else f", {_WORDS[variant]}"
        self.label = mechanism + said
        self.colour = look.colour
        self.style: dict[str, Any] = {"color": look.colour, "linestyle": look.dash, "marker": look.marker}
        if variant != "released":
            self.style |= {"markerfacecolor": "white", "markeredgewidth": 0.8, "linewidth": 0.8}
        if variant == "printed":
            self.style |= {"marker": "s" if mechanism == "elv" else "o", "markersize": 6.5}

    def of(self, cells: Selection[C, R], k: int) -> Selection[C, R]:
        """Return those of releases or losses at k that the series shows."""
        switches: Mapping[str, Switches] = {"printed": PRINTED[k], "inferred": INFERRED[k]}
        return cells.where(mechanism=self.mechanism, switches=switches.get(self.variant, ()))

    def measured(self, quantity: Quantity) -> Quantity | None:
        """Return which mean the series shows in a figure of a quantity; None for none."""
        if self.variant == "smoothed":
            return "smoothed" if quantity == "absolute" else None
        return quantity


PROMISING = [
    *(Series(name) for name in ("critical", "edge", "elv", "respond", "modelled")),
    Series("respond", "smoothed"),
]
"""Mechanisms that promise something, in the order of the legend; smoothed counts where they are."""

_PAPERS: list[tuple[str, Variant]] = [
    ("elv", "released"),
    ("published", "released"),
    ("elv", "printed"),
    ("published", "printed"),
    ("elv", "inferred"),
    ("published", "inferred"),
]
PAPERS = {
    3: [Series(name, variant) for name, variant in _PAPERS if (name, variant) != ("published", "printed")],
    4: [Series(name, variant) for name, variant in _PAPERS],
}
"""By k, the paper's two phases; `published` differs from what is printed for k = 3 by a clamp that hardly matters."""

Points: TypeAlias = list[tuple[float, Errors | Refused]]
"""Results by the swept parameter."""

Across: TypeAlias = tuple[float, float, float]
"""From the first to the last value of the swept parameter, and between them where a series that does not depend on it
has its mark: each at another place, for lines may lie upon one another."""


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


def at_edge(axes: Any, xs: Sequence[float], series: Series, words: str) -> None:
    """Mark on an edge what a logarithmic axis cannot show, refused or no error, and name it in the legend."""
    height, marker = (0.97, REFUSED_MARK) if words == REFUSED else (0.03, NO_ERROR_MARK)
    if xs:
        axes.plot(
            xs,
            [height] * len(xs),
            linestyle="",
            marker=marker,
            color=series.colour,
            transform=axes.get_xaxis_transform(),
            label=f"{series.label.split(' (')[0]}: {words}",
            clip_on=False,
        )


def _means(points: Points, quantity: Quantity) -> list[tuple[float, Mean]]:
    return [(x, mean) for x, result in points if (mean := mean_or_none(result, quantity)) is not None]


def draw_series(axes: Any, series: Series, points: Points, quantity: Quantity, across: Across) -> None:
    """Draw a series: a line with its band, and marks on the edges for what a logarithmic axis cannot show."""
    first, mark, last = across
    places = [(mark if np.isnan(x) else x, result) for x, result in points]
    at_edge(axes, [x for x, result in places if "refused" in result], series, REFUSED)
    at_edge(axes, [x for x, mean in _means(places, quantity) if mean.value == 0], series, NO_ERROR)
    drawn = [(x, mean) for x, mean in _means(points, quantity) if mean.value > 0]
    if not drawn:
        return
    xs = np.array([x for x, _ in drawn])
    means, errors = np.array([mean.value for _, mean in drawn]), np.array([mean.error for _, mean in drawn])
    style = dict(series.style)
    variant = series.variant != "released"
    if variant:  # rings around what they may lie upon
        style |= {"markerfacecolor": "none", "markersize": 8.0}
    if np.isnan(xs).any():  # the series does not depend on the swept parameter
        xs, means, errors = np.array([first, mark, last]), means[[0] * 3], errors[[0] * 3]
        style["markevery"] = [1]
    elif len(xs) > 15:
        style["markevery"] = (3 if variant else 0, 6)
    axes.plot(xs, means, label=series.label, **style)
    band = CONFIDENCE * errors
    axes.fill_between(xs, np.maximum(means - band, means * 0.02), means + band, color=series.colour, alpha=0.25, lw=0)


@contextmanager
def picture(
    path: Path, heading: str, rows: int, columns: int, *, height: float, note: str = PROMISES, shared: bool = False
) -> Iterator[Any]:
    """Yield the panels of a picture, an array of this shape; then put a heading over them, and save the picture.

    The legend comes under the panels, as wide as the figure, with a note as its title: all marks by their labels.
    """
    with plots.new_figure(rows, columns, height=height, sharex=shared, sharey=shared) as (figure, axes):
        yield axes
        figure.suptitle(heading, fontsize=10)
        marks: dict[str, Any] = {}
        for place in figure.axes:
            marks |= dict(zip(*reversed(place.get_legend_handles_labels()), strict=True))
        legend = figure.legend(
            list(marks.values()), list(marks), loc="outside lower center", ncols=3, title=note, columnspacing=1.2
        )
        legend.get_title().set_fontsize(8)
        plots.save_figure(figure, path)
