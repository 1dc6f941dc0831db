"""Pictures of the sizes and densities of cohesions: their distributions for one p, and a profile over several p."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
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


Runs = Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]]
"""By p, the size and the density of each cohesion."""
LOGARITHMIC_FROM = 30
"""From this ratio of the largest size to the smallest, the size axis is logarithmic."""


def draw_distributions(runs: Runs, search: str, path: AnyPath | None = None, *, vertices: int | None = None) -> Figure:
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
        figure.suptitle(_title(runs, search, vertices), x=0.02, ha="left")
        if len(sizes):
            figure.legend(loc="outside lower center")
        if path is not None:
            save_figure(figure, path)
    return figure


def draw_profile(runs: Runs, search: str, path: AnyPath | None = None, *, vertices: int | None = None) -> Figure:
    """Draw sizes and densities over p: the mean, the median, the middle half of the cohesions, and the 90 % quantile.

    Returns:
        The figure, which a notebook displays.
    """
    ordered = dict(sorted(runs.items(), key=lambda run: Fraction(run[0])))
    colour = look(search).colour
    with new_figure(1, 2, width=PAGE, height=3.2) as (figure, axes):
        left, right = axes[0]
        _bands(left, {p: sizes for p, (sizes, _) in ordered.items()}, colour)
        _bands(right, {p: densities[sizes > 1] for p, (sizes, densities) in ordered.items()}, colour)
        smallest = min((int(sizes.min()) for sizes, _ in runs.values() if len(sizes)), default=1)
        if left.get_ylim()[1] >= LOGARITHMIC_FROM * smallest:
            left.set_yscale("log")
        left.yaxis.set_major_formatter("{x:,.0f}")
        left.set(ylabel="size (members)")
        right.set(ylabel="density", ylim=(0, 1.02))
        for plane in (left, right):
            plane.set(xlabel="p")
            plane.set_xticks([float(Fraction(p)) for p in ordered], [_short(p) for p in ordered])
        figure.suptitle(_title(runs, search, vertices), x=0.02, ha="left")
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
        if path is not None:
            save_figure(figure, path)
    return figure


def _title(runs: Runs, search: str, vertices: int | None) -> str:
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


def _bands(plane: Axes, values: Mapping[str, NDArray[np.int64] | NDArray[np.float64]], colour: str) -> None:
    """Draw quantiles and means for each p that has values."""
    some = {p: those for p, those in values.items() if len(those)}
    if not some:
        return
    at = [float(Fraction(p)) for p in some]
    low, middle, high, most = np.transpose([np.percentile(those, [25, 50, 75, 90]) for those in some.values()])
    plane.fill_between(at, low, high, color=colour, alpha=0.2, linewidth=0, label="25 to 75 % of the cohesions")
    plane.plot(at, middle, color=colour, marker="o", label="median")
    plane.plot(at, [those.mean() for those in some.values()], color=colour, marker="D", linestyle=":", label="mean")
    plane.plot(at, most, color=colour, marker="^", linestyle="--", label="90 %")


def _short(p: str) -> str:
    """Return p as a decimal where it has few digits, else as it is."""
    decimal = f"{float(Fraction(p)):.4g}"
    return decimal if Fraction(decimal) == Fraction(p) else p
