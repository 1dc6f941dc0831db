"""A picture of the sizes and densities of cohesions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.frames import counted
from pcneo.basics.model import AnyPath
from pcneo.plots.labels import fitted
from pcneo.plots.style import PAGE, look, new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


LOGARITHMIC_FROM = 30
"""From this ratio of the largest size to the smallest, the size axis is logarithmic."""


def draw_distributions(
    runs: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]],
    search: str,
    path: AnyPath | None = None,
    *,
    vertices: int | None = None,
) -> Figure:
    """Draw the cumulative distributions of sizes and of densities for the one p in `runs`.

    Returns:
        The figure, which a notebook displays.
    """
    ((p, (sizes, densities)),) = runs.items()
    some = densities[sizes > 1]
    label = f"p = {p}: median {_middle(sizes):,.0f} members,\ndensity {_middle(some):.2g}"
    with new_figure(1, 2, width=PAGE, height=3.35, sharey=True) as (figure, axes):
        from matplotlib.ticker import MaxNLocator

        left, right = axes[0]
        line = {"color": look(search).colour, "linestyle": "-"}
        _steps(left, sizes, {**line, "label": label})
        _steps(right, some, line)
        largest = int(sizes.max(initial=1))
        if largest >= LOGARITHMIC_FROM * int(sizes.min(initial=largest)):
            left.set_xscale("log")
        else:
            left.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        left.xaxis.set_major_formatter("{x:,.0f}")
        left.set(xlabel="size (members)", ylabel="cohesions up to this size (%)", ylim=(0, 101))
        right.set(
            xlabel="density (share of the pairs that are connected)",
            ylabel="cohesions up to this density (%)",
            xlim=(0, 1.02),
        )
        figure.suptitle(title_of_runs(runs, search, vertices), x=0.02, ha="left")
        figure.legend(loc="outside lower center")
        if path is not None:
            save_figure(figure, path)
    return figure


def title_of_runs(
    runs: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]], search: str, vertices: int | None
) -> str:
    """Return a title with the search and whose cohesions are drawn: of `vertices` vertices, if these are all."""
    count = max((len(sizes) for sizes, _ in runs.values()), default=0)
    whose = f"all {count:,} vertices" if count == vertices else counted(count, "vertex", "vertices")
    return fitted(f"Minimal p-cohesions of {whose}, {look(search).label}", PAGE)


def _middle(values: NDArray[np.int64] | NDArray[np.float64]) -> float:
    return float(np.median(values)) if len(values) else 0.0


def _steps(plane: Axes, values: NDArray[np.int64] | NDArray[np.float64], look: dict[str, Any]) -> None:
    """Draw the share of values up to each value, with one point per distinct value to keep files small."""
    if len(values):
        distinct, counts = np.unique(values, return_counts=True)
        share = 100 * np.cumsum(counts) / len(values)
        plane.step(np.concatenate([distinct[:1], distinct]), np.concatenate([[0.0], share]), where="post", **look)
