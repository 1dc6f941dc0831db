"""Errors and bounds along a parameter, with a panel for each value of others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

from evaluation.drawing.marks import (
    MEASURES,
    PAPERS,
    PROMISING,
    ZEROS,
    Across,
    Along,
    Points,
    Series,
    Shown,
    draw_series,
    picture,
    points_of,
    swept,
)
from evaluation.experiments import (
    EPSILONS_BY_H,
    EPSILONS_BY_P,
    HS,
    HS_BY_EPSILON,
    HS_BY_EPSILON_1,
    HS_BY_P,
)
from evaluation.finished_cells import Finished
from evaluation.results import Quantity
from pcneo import plots

_SIGNS: dict[Along, str] = {"p": "p", "h": "h", "epsilon": "ε", "epsilon_1": "ε1"}

_COLUMNS = 2

_BOUNDS = [
    *(Series(name, "printed") for name in ("elv", "published")),
    *(Series(name) for name in ("edge", "elv", "published")),
]
"""As printed first, as large hollow marks behind: of `published` mostly the same bounds. `inside` changes none."""

Panels: TypeAlias = Sequence[Shown]

_BY_P = [Shown(h, epsilon) for h in HS_BY_P for epsilon in EPSILONS_BY_P]
_BY_EPSILON = [Shown(h) for h in HS_BY_EPSILON]
_BY_EPSILON_1 = [Shown(h) for h in HS_BY_EPSILON_1]

SWEEPS: dict[str, tuple[Along, Panels]] = {
    "p-hepth": ("p", _BY_P),
    "p-bitcoin": ("p", _BY_P),
    "epsilon-usairport": ("epsilon", _BY_EPSILON),
    "epsilon-usairport-k4": ("epsilon", _BY_EPSILON),
    "epsilon1-celegans": ("epsilon_1", _BY_EPSILON_1),
}
"""The parameter that each figure sweeps, and its panels."""


def values_along(finished: Finished, along: Along) -> list[float]:
    """Return the values of a swept parameter that have a finished cell, ascending."""
    return sorted(finished.releases.values(lambda cell: swept(cell, along)))


def draw_sweep(finished: Finished, path: Path, measure: Quantity, heading: str, along: Along, panels: Panels) -> None:
    """Draw a measure of all mechanisms along a parameter."""
    values = values_along(finished, along)

    k = finished.releases.values(lambda cell: cell.k)[0]
    cliques = finished.cliques.only()

    def draw(place: Any, shown: Shown) -> None:
        family: list[tuple[Series, Points, Quantity]] = [
            (series, points_of(finished.releases, series, along, shown), quantity)
            for series in (*PROMISING, *PAPERS[k][1:])
            if (quantity := series.measured(measure))
        ]
        flat = [series for series, points, _ in family if any(math.isnan(x) for x, _ in points)]
        for series, points, quantity in family:
            i = flat.index(series) if series in flat else 0
            draw_series(place, series, points, quantity, _across(values, i, len(flat)))
        if measure == "absolute" and cliques is not None and cliques["mean"] > 0:
            place.axhline(cliques["mean"], color="#777777", lw=1.0, label=ZEROS)
        if along == "p":
            place.set_xticks(values)

    _draw_panels(path, 1.5 + 1.9 * -(-len(panels) // _COLUMNS), (along, MEASURES[measure], heading), panels, draw)


def _across(values: Sequence[float], i: int, count: int) -> Across:
    """The ends of an axis, and the mark of flat series i of so many: between values, where others have none."""
    between = [(low + high) / 2 for low, high in pairwise(values)] or [values[0]]
    return values[0], between[(2 * i + 1) * len(between) // max(2, 2 * count)], values[-1]


def draw_bounds(finished: Finished, path: Path, heading: str) -> None:
    """Draw the bound of the local sensitivity by h, beside the most that removing one connection changes."""
    graph = finished.graphs.only()

    def draw(place: Any, shown: Shown) -> None:
        for series in _BOUNDS:  # of which `edge` alone is flat
            points = points_of(finished.releases, series, "h", shown)
            draw_series(place, series, points, "bound", _across(HS, 0, 1))
        if graph is not None:
            colour = plots.look("exact").colour
            place.axhline(graph["largest_change"], color=colour, lw=0.8, label="most that one connection changes")

    panels = [Shown(epsilon=epsilon) for epsilon in EPSILONS_BY_H]
    _draw_panels(path, 5.2, ("h", "bound of the local sensitivity", heading), panels, draw)


def _draw_panels(
    path: Path,
    height: float,
    words: tuple[Along, str, str],
    panels: Panels,
    draw: Callable[[Any, Shown], None],
) -> None:
    """Draw the panels, their titles and axes, and the legend; words are of both axes, and over all."""
    along, label, heading = words
    with picture(path, heading, -(-len(panels) // _COLUMNS), _COLUMNS, height=height, shared=True) as axes:
        for i, (place, shown) in enumerate(zip(axes.ravel().tolist(), panels, strict=True)):
            draw(place, shown)
            place.set_yscale("log")
            place.set_title(shown.title)
            if i >= len(panels) - _COLUMNS:
                place.set_xlabel(_SIGNS[along])
            if i % _COLUMNS == 0:
                place.set_ylabel(label.replace(" of ", "\nof ", 1))
