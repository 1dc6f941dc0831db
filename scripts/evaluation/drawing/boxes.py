"""Sizes and densities as boxes: of two scores, and of sets beside local views."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluation.cells import Result
from evaluation.drawing.marks import labelled
from evaluation.experiments import P_VALUES
from evaluation.finished_cells import Finished
from pcneo import plots

__all__ = ["DISTRIBUTIONS"]


def _boxes(axes: Any, places: Sequence[float], results: Sequence[Result], quantity: str, look: Any, label: str) -> None:
    """Draw a box for each result at its place."""
    stats = []
    for result in results:
        low, whisker, quarter, median, upper, top, high = result[quantity]["quantiles"]
        stats.append(
            {
                "whislo": whisker,
                "q1": quarter,
                "med": median,
                "q3": upper,
                "whishi": top,
                "mean": result[quantity]["mean"],
                "fliers": [low, high],
            }
        )
    drawn = axes.bxp(
        stats,
        positions=places,
        widths=0.34,
        patch_artist=True,
        manage_ticks=False,
        showmeans=True,
        boxprops={"facecolor": look.colour, "edgecolor": "black", "linewidth": 0.6, "hatch": look.hatch},
        medianprops={"color": "black", "linewidth": 1.2},
        whiskerprops={"linewidth": 0.7},
        capprops={"linewidth": 0.7},
        meanprops={"marker": "D", "markersize": 3, "markerfacecolor": "white", "markeredgecolor": "black"},
        flierprops={"marker": ".", "markersize": 2, "markerfacecolor": look.colour, "markeredgecolor": look.colour},
    )
    drawn["boxes"][0].set_label(label)


def _distributions(
    finished: Finished, path: Any, quantity: str, swept: Sequence[str], pairs: Sequence[tuple[str, dict[str, Any]]]
) -> None:
    """All graphs at p = 0.3 above; below, each swept graph by p.

    Args:
        finished: the cells.
        path: of the picture.
        quantity: `sizes` or `densities`.
        swept: the graphs that are shown by p.
        pairs: the two things that are compared: the name of a look, and the parameters of their cells.
    """
    with plots.new_figure(2, 2, height=5.2) as (figure, axes):
        grid = axes[0, 0].get_gridspec()
        for each in axes[0]:
            each.remove()
        top = figure.add_subplot(grid[0, :])
        names = [name for name in finished.values("graph") if finished.where(graph=name, p="0.3")]
        at_top = [[_at(finished, name, "0.3", given) for name in names] for _, given in pairs]
        _compare(top, names, at_top, pairs, quantity)
        top.set_title("p = 0.3")
        top.tick_params(axis="x", labelsize=8)
        for place, name in zip(axes[1], swept, strict=True):
            ps = [p for p in P_VALUES if finished.where(graph=name, p=p)]
            _compare(place, ps, [[_at(finished, name, p, given) for p in ps] for _, given in pairs], pairs, quantity)
            sampled = [str(cell.p) for cell, _ in finished.where(graph=name) if cell.sample]
            note = f" (from p = {min(sampled)} on: a sample)" if sampled else ""
            place.set(title=name + note, xlabel="p")
            place.set_visible(bool(ps))
        top.set_visible(bool(names))
        seen = labelled(top, *axes[1])
        figure.legend(list(seen.values()), list(seen), loc="outside lower center", ncols=2)
        plots.save_figure(figure, path)


def _at(finished: Finished, graph: str, p: str, given: Mapping[str, Any]) -> Result | None:
    parameters = {"graph": graph, **given}
    if given["kind"] == "sets":
        parameters["p"] = p
    return finished.one(**parameters)


def _compare(
    axes: Any,
    ticks: Sequence[str],
    rows: Sequence[Sequence[Result | None]],
    pairs: Sequence[tuple[str, dict[str, Any]]],
    quantity: str,
) -> None:
    own = "density" if pairs is _AGAINST else None  # beside local views it is no score that is compared
    for offset, (name, _), results in zip((-0.19, 0.19), pairs, rows, strict=True):
        shown = [(i + offset, result) for i, result in enumerate(results) if result is not None]
        if shown:
            places, found = zip(*shown, strict=True)
            look = plots.look(name)
            _boxes(axes, places, found, quantity, look, "minimal p-cohesion" if name == own else look.label)
    axes.set_xticks(range(len(ticks)), ticks)
    axes.set_yscale("log")
    axes.set_ylabel("size (members)" if quantity == "sizes" else "density")
    axes.grid(False, axis="x")


_BY_SCORE = [(score, {"kind": "sets", "score": score}) for score in ("density", "degree")]
_AGAINST = [("density", {"kind": "sets", "score": "density"}), ("elv", {"kind": "views"})]

DISTRIBUTIONS: dict[str, Callable[[Finished, Any], None]] = {
    "score-density": lambda f, path: _distributions(f, path, "densities", ("Gnutella08", "HepPh"), _BY_SCORE),
    "score-size": lambda f, path: _distributions(f, path, "sizes", ("Gnutella08", "HepPh"), _BY_SCORE),
    "view-density": lambda f, path: _distributions(f, path, "densities", ("USAirport", "SisterCity"), _AGAINST),
    "view-size": lambda f, path: _distributions(f, path, "sizes", ("WIKIVote", "Yeast"), _AGAINST),
}
"""What draws each figure of sets: takes its cells and the path of the picture."""
