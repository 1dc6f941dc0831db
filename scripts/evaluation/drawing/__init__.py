"""The figures, from finished cells: nothing is computed here but the place of a mark.

Bands and bars are 95 % confidence intervals of a mean over the runs: 1.96 standard errors to either side. In the figure
of losses a bar reaches from the 5 % to the 95 % quantile of λ. Boxes reach
from the 25 % to the 75 % quantile, whiskers from the 5 % to the 95 % quantile; the line in a box is the median, the
white diamond the mean.

    marks       how a mechanism is drawn in a panel, and the legend
    boxes       sizes and densities as boxes
    sweeps      errors and bounds along a parameter
    all_graphs  errors and losses, with all graphs side by side
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from evaluation.drawing.all_graphs import OVER_GRAPHS, draw_losses, draw_over_graphs
from evaluation.drawing.boxes import BOXES
from evaluation.drawing.marks import MEASURES, PROMISES
from evaluation.drawing.sweeps import SWEEPS, draw_bounds, draw_sweep, values_along
from evaluation.experiments import EXPERIMENTS
from evaluation.finished_cells import Finished
from evaluation.results import Quantity

__all__ = ["MEASURES", "PROMISES", "drawings"]


def drawings(name: str, finished: Finished) -> Mapping[str, Callable[[Path], None]]:
    """Return functions that draw the pictures of an experiment, by the picture's name; each takes a path.

    There are none if there is nothing to draw: no cell, none of cohesions, or none with a value of the swept parameter.
    """
    if not len(finished) or (name in BOXES and not len(finished.cohesions)):
        return {}
    if name in SWEEPS and not values_along(finished, SWEEPS[name][0]):
        return {}
    heading = EXPERIMENTS[name].title
    if name in BOXES:
        return {name: lambda path: BOXES[name](finished, path)}
    if name in SWEEPS or name in OVER_GRAPHS:
        return {f"{name}-{measure}": _drawer(name, finished, measure) for measure in MEASURES}
    if name == "h-celegans":
        return {name: lambda path: draw_bounds(finished, path, heading)}
    if name == "losses":
        return {name: lambda path: draw_losses(finished, path, heading)}
    return {}


def _drawer(name: str, finished: Finished, measure: Quantity) -> Callable[[Path], None]:
    heading = EXPERIMENTS[name].title
    if name in OVER_GRAPHS:
        return lambda path: draw_over_graphs(finished, path, measure, heading)
    along, panels = SWEEPS[name]
    return lambda path: draw_sweep(finished, path, measure, heading, along, panels)
