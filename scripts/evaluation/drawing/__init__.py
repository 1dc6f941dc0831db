"""The figures, from finished cells: nothing is computed here but the place of a mark.

Bands and bars are 95 % confidence intervals of a mean over the runs: 1.96 standard errors to either side. Boxes reach
from the 25 % to the 75 % quantile, whiskers from the 5 % to the 95 % quantile; the line in a box is the median, the
white diamond the mean.

    marks          a mechanism's marks in a panel, and the legend
    distributions  sizes and densities as boxes
    sweeps         errors and bounds along a parameter
    graphs         errors and losses, all graphs side by side
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evaluation.drawing.all_graphs import OVER_GRAPHS, draw_losses, draw_over_graphs
from evaluation.drawing.boxes import DISTRIBUTIONS
from evaluation.drawing.marks import MEASURES, PROMISES
from evaluation.drawing.sweeps import SWEEPS, draw_bounds, draw_sweep
from evaluation.finished_cells import Finished

__all__ = ["MEASURES", "PROMISES", "drawings"]


def drawings(name: str, finished: Finished) -> Mapping[str, Callable[[Any], None]]:
    """Return what draws each picture of an experiment, by the picture's name: called with its path.

    None where nothing is there to draw: no cell, none of cohesions, or none at any value of what is swept.
    """
    if not len(finished) or (name in DISTRIBUTIONS and not len(finished.where(kind="sets"))):
        return {}
    if name in SWEEPS and not finished.values(SWEEPS[name][0]):
        return {}
    if name in DISTRIBUTIONS:
        return {name: lambda path: DISTRIBUTIONS[name](finished, path)}
    if name in SWEEPS or name in OVER_GRAPHS:
        return {f"{name}-{measure}": _drawer(name, finished, measure) for measure in MEASURES}
    if name == "h-celegans":
        return {name: lambda path: draw_bounds(finished, path)}
    if name == "losses":
        return {name: lambda path: draw_losses(finished, path)}
    return {}


def _drawer(name: str, finished: Finished, measure: str) -> Callable[[Any], None]:
    if name in OVER_GRAPHS:
        return lambda path: draw_over_graphs(finished, path, measure)
    along, panels = SWEEPS[name]
    return lambda path: draw_sweep(finished, path, measure, along, panels)
