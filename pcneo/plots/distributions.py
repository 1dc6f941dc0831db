"""A picture of the sizes and densities of cohesions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import AnyPath
from pcneo.plots.labels import fitted
from pcneo.plots.style import PAGE, look, new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


DASHES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
LEGEND_COLUMNS = 3
LOGARITHMIC_FROM = 30
"""From this ratio of the largest size to the smallest, the size axis is logarithmic."""


def draw_distributions(
    runs: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]],
    search: str,
    path: AnyPath | None = None,
    *,
    vertices: int | None = None,
) -> Figure:
    """Draw the cumulative distributions of sizes and of densities, a line for each p.

    Returns:
        The figure, which a notebook displays.
    """
    colours = _colours(look(search).colour, len(runs))
    rows = -(-len(runs) // LEGEND_COLUMNS)
    with new_figure(1, 2, width=PAGE, height=3.0 + 0.35 * rows, sharey=True) as (figure, axes):
        from matplotlib.ticker import MaxNLocator

        left, right = axes[0]
        for number, (p, (sizes, densities)) in enumerate(runs.items()):
            look_of_p = {"color": colours[number], "linestyle": DASHES[number % len(DASHES)]}
            if len(runs) > 1:
                look_of_p |= {
                    "marker": MARKERS[number % len(MARKERS)],
                    "markevery": (0.2 * number / len(runs), 0.2),
                }
            some = densities[sizes > 1]
            label = f"p = {p}: median {_middle(sizes):,.0f} members,\ndensity {_middle(some):.2g}"
            _steps(left, sizes, {**look_of_p, "label": label})
            _steps(right, some, look_of_p)
        largest = max((int(sizes.max(initial=1)) for sizes, _ in runs.values()), default=1)
        smallest = min((int(sizes.min(initial=largest)) for sizes, _ in runs.values()), default=1)
        if largest >= LOGARITHMIC_FROM * smallest:
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
        count = max((len(sizes) for sizes, _ in runs.values()), default=0)
        title = f"Minimal p-cohesions of {whose(count, vertices)}, {look(search).label}"
        figure.suptitle(fitted(title, PAGE), x=0.02, ha="left")
        figure.legend(loc="outside lower center", ncols=min(len(runs), LEGEND_COLUMNS))
        if path is not None:
            save_figure(figure, path)
    return figure


def whose(count: int, vertices: int | None) -> str:
    """Return, in words, the vertices whose cohesions a picture shows."""
    return f"all {count:,} vertices" if count == vertices else "1 vertex" if count == 1 else f"{count:,} vertices"


def _middle(values: NDArray[np.int64] | NDArray[np.float64]) -> float:
    return float(np.median(values)) if len(values) else 0.0


def _steps(plane: Axes, values: NDArray[np.int64] | NDArray[np.float64], look: dict[str, Any]) -> None:
    """Draw the share of values up to each value, with one point per distinct value to keep files small."""
    if len(values):
        distinct, counts = np.unique(values, return_counts=True)
        share = 100 * np.cumsum(counts) / len(values)
        plane.step(np.concatenate([distinct[:1], distinct]), np.concatenate([[0.0], share]), where="post", **look)


def _colours(colour: str, count: int) -> Sequence[str]:
    """Return colours from dark to light through several hues, one for each p in order; `colour` for a single p."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [colour] if count == 1 else [to_hex(rgb) for rgb in colormaps["viridis"](np.linspace(0, 0.88, count))]
