"""Sizes and densities as boxes: of the two scores, and of cohesions beside local views."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from evaluation.drawing.marks import picture
from evaluation.experiments import EXPERIMENTS, P_VALUES
from evaluation.finished_cells import Finished
from evaluation.results import Sizes
from pcneo import plots

_MARKS = "Box: 25 % to 75 %; line: median; diamond: mean; whiskers: 5 % and 95 %; points: least and largest."

Measure: TypeAlias = Literal["sizes", "densities"]


@dataclass(frozen=True)
class _Family:
    """One of the two families of vertex sets that a figure compares: cohesions of a score, or local views.

    Attributes:
        look: the name of its look.
        result: takes finished cells, a graph and p, and returns the sizes and densities.
        label: the legend's words; those of the look if None. The paper compares scores, not searches.
    """

    look: str
    result: Callable[[Finished, str, str], Sizes | None]
    label: str | None = None


def _of_score(score: str, label: str | None = None) -> _Family:
    return _Family(score, lambda finished, graph, p: finished.cohesions.only(graph=graph, p=p, score=score), label)


_BY_SCORE = (_of_score("density", "density score"), _of_score("degree", "degree score (reconstructed)"))
_AGAINST_VIEWS = (
    _of_score("density", label="minimal p-cohesion"),
    _Family("elv", lambda finished, graph, _: finished.views.only(graph=graph)),
)


def _draw_boxes(
    axes: Any, places: Sequence[float], results: Sequence[Sizes], measure: Measure, look: plots.Look, label: str
) -> None:
    """Draw a box for each result at its place."""
    stats = []
    for result in results:
        low, whisker, quarter, median, upper, top, high = result[measure]["quantiles"]
        stats.append(
            {
                "whislo": whisker,
                "q1": quarter,
                "med": median,
                "q3": upper,
                "whishi": top,
                "mean": result[measure]["mean"],
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


def _draw(name: str, finished: Finished, path: Path, swept: Sequence[str], families: tuple[_Family, _Family]) -> None:
    """Draw all graphs at p = 0.3 above, and below the swept graphs by p; the figure's name ends in what is drawn."""
    cells = finished.cohesions
    measure: Measure = "sizes" if name.endswith("size") else "densities"
    with picture(path, EXPERIMENTS[name].title, 2, 2, height=5.2, note=_MARKS) as axes:
        figure, grid = axes[0, 0].figure, axes[0, 0].get_gridspec()
        for place in axes[0]:
            place.remove()
        top = figure.add_subplot(grid[0, :])
        names = [graph for graph in finished.graph_names if len(cells.where(graph=graph, p="0.3"))]
        _compare(top, {graph: (graph, "0.3") for graph in names}, finished, measure, families)
        top.set_title("p = 0.3")
        top.tick_params(axis="x", labelsize=8)
        for place, graph in zip(axes[1], swept, strict=True):
            ps = [p for p in P_VALUES if len(cells.where(graph=graph, p=p))]
            _compare(place, {p: (graph, p) for p in ps}, finished, measure, families)
            sampled = [cell.p for cell, _ in cells.where(graph=graph) if cell.sample]
            note = f" (from p = {min(sampled)} on: a sample)" if sampled else ""
            place.set(title=graph + note, xlabel="p")
            place.set_visible(bool(ps))
        top.set_visible(bool(names))


def _compare(
    axes: Any,
    points: Mapping[str, tuple[str, str]],
    finished: Finished,
    measure: Measure,
    families: tuple[_Family, _Family],
) -> None:
    """Draw the boxes of two families side by side at points, graph and p, by the label of their tick."""
    for offset, family in zip((-0.19, 0.19), families, strict=True):
        results = [family.result(finished, graph, p) for graph, p in points.values()]
        drawn = [(i + offset, result) for i, result in enumerate(results) if result is not None]
        if drawn:
            look = plots.look(family.look)
            places, shown = [place for place, _ in drawn], [result for _, result in drawn]
            _draw_boxes(axes, places, shown, measure, look, family.label or look.label)
    axes.set_xticks(range(len(points)), list(points))
    axes.set_yscale("log")
    axes.set_ylabel("size (members)" if measure == "sizes" else "density")
    axes.grid(False, axis="x")


def _drawer(name: str, swept: Sequence[str], families: tuple[_Family, _Family]) -> Callable[[Finished, Path], None]:
    return lambda finished, path: _draw(name, finished, path, swept, families)


BOXES = {
    name: _drawer(name, swept, families)
    for name, swept, families in (
        ("score-density", ("Gnutella08", "HepPh"), _BY_SCORE),
        ("score-size", ("Gnutella08", "HepPh"), _BY_SCORE),
        ("view-density", ("USAirport", "SisterCity"), _AGAINST_VIEWS),
        ("view-size", ("WIKIVote", "Yeast"), _AGAINST_VIEWS),
    )
}
"""What draws each figure of sizes and densities: takes its cells and the path of the picture."""
