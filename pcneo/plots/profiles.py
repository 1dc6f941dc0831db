"""A picture of sizes and densities of cohesions over p."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import AnyPath
from pcneo.plots.distributions import LOGARITHMIC_FROM, title_of_runs
from pcneo.plots.style import PAGE, look, new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_profile(
    runs: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]],
    search: str,
    path: AnyPath | None = None,
    *,
    vertices: int | None = None,
) -> Figure:
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
        smallest = min((int(sizes.min(initial=1)) for sizes, _ in runs.values()), default=1)
        if left.get_ylim()[1] >= LOGARITHMIC_FROM * smallest:
            left.set_yscale("log")
        left.yaxis.set_major_formatter("{x:,.0f}")
        left.set(ylabel="size (members)")
        right.set(ylabel="density", ylim=(0, 1.02))
        for plane in (left, right):
            plane.set(xlabel="p")
            plane.set_xticks([float(Fraction(p)) for p in ordered], [_short(p) for p in ordered])
        figure.suptitle(title_of_runs(runs, search, vertices), x=0.02, ha="left")
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
        if path is not None:
            save_figure(figure, path)
    return figure


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
