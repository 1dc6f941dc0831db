"""Errors and bounds along a parameter, a panel for each value of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluation.drawing.marks import ALL_SERIES, MEASURES, draw_series, labelled, legend, points_of
from evaluation.experiments import (
    EPSILONS_BY_H,
    EPSILONS_BY_P,
    HS,
    HS_BY_EPSILON,
    HS_BY_EPSILON_1,
    HS_BY_P,
)
from evaluation.finished_cells import Finished
from pcneo import plots

__all__ = ["SWEEPS", "draw_bounds", "draw_sweep"]

_SIGNS = {"p": "p", "h": "h", "epsilon": "ε", "epsilon_1": "ε1", "k": "k"}

_COLUMNS = 2

Panels = Sequence[Mapping[str, Any]]
"""The parameters that each panel is for."""

_BY_P = [{"h": h, "epsilon": epsilon} for h in HS_BY_P for epsilon in EPSILONS_BY_P]
_BY_EPSILON = [{"h": h} for h in HS_BY_EPSILON]
_BY_EPSILON_1 = [{"h": h} for h in HS_BY_EPSILON_1]

SWEEPS: dict[str, tuple[str, Panels]] = {
    "p-hepth": ("p", _BY_P),
    "p-bitcoin": ("p", _BY_P),
    "epsilon-usairport": ("epsilon", _BY_EPSILON),
    "epsilon-usairport-k4": ("epsilon", _BY_EPSILON),
    "epsilon1-celegans": ("epsilon_1", _BY_EPSILON_1),
}
"""What each figure sweeps, and its panels."""


def draw_sweep(finished: Finished, path: Any, measure: str, along: str, panels: Panels) -> None:
    """Draw a measure of all mechanisms along a parameter.

    Args:
        finished: the cells.
        path: of the picture.
        measure: of `MEASURES`.
        along: the parameter.
        panels: the parameters of each panel.
    """
    values = sorted(float(value) for value in finished.values(along))

    def draw(place: Any, given: Mapping[str, Any]) -> None:
        for series in ALL_SERIES:
            points = points_of(finished, series, along, given)
            draw_series(place, series, points, measure, (values[0], values[-1]))
        if along == "p":
            place.set_xticks(values)

    _draw_panels(path, 1.1 + 1.9 * -(-len(panels) // _COLUMNS), along, MEASURES[measure], panels, draw)


def draw_bounds(finished: Finished, path: Any) -> None:
    """Draw the bound of the local sensitivity by h, beside the most that removing one connection does change."""
    graph = finished.one(kind="graph")

    def draw(place: Any, given: Mapping[str, Any]) -> None:
        for series in (each for each in ALL_SERIES if each.mechanism != "critical"):
            draw_series(place, series, points_of(finished, series, "h", given), "bound", (HS[0], HS[-1]))
        if graph is not None:
            colour = plots.look("exact").colour
            place.axhline(graph["largest_change"], color=colour, lw=0.8, label="most that one connection changes")

    panels = [{"epsilon": epsilon} for epsilon in EPSILONS_BY_H]
    _draw_panels(path, 5.0, "h", "bound of the local sensitivity", panels, draw)


def _draw_panels(
    path: Any,
    height: float,
    along: str,
    quantity: str,
    panels: Panels,
    draw: Callable[[Any, Mapping[str, Any]], None],
) -> None:
    """Draw each panel, and what all have in common."""
    with plots.new_figure(-(-len(panels) // _COLUMNS), _COLUMNS, height=height, sharex=True, sharey=True) as (
        figure,
        axes,
    ):
        places = axes.ravel().tolist()
        for i, (place, given) in enumerate(zip(places, panels, strict=True)):
            draw(place, given)
            place.set_yscale("log")
            place.set_title(", ".join(f"{_SIGNS[key]} = {value}" for key, value in given.items()))
            if i >= len(panels) - _COLUMNS:
                place.set_xlabel(_SIGNS[along])
            if i % _COLUMNS == 0:
                place.set_ylabel(quantity.replace(" of ", "\nof ", 1))
        legend(figure, labelled(*places))
        plots.save_figure(figure, path)
