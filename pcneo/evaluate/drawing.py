"""The figures, from finished cells: nothing is computed here but the place of a mark.

Bands and bars are 95 % confidence intervals of a mean over the runs: 1.96 standard errors to either side. Boxes reach
from the 25 % to the 75 % quantile, whiskers from the 5 % to the 95 % quantile; the line in a box is the median, the
white diamond the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pcneo import plots
from pcneo.evaluate.cells import Result
from pcneo.evaluate.experiments import (
    EPSILONS_BY_H,
    EPSILONS_BY_P,
    HS,
    HS_BY_EPSILON,
    HS_BY_EPSILON_1,
    HS_BY_P,
    LOSSES,
    P_VALUES,
    paper_switches,
)
from pcneo.evaluate.finished import Finished

__all__ = ["MEASURES", "PROMISES", "drawings"]

PROMISES = "At equal ε the mechanisms promise different things; published promises nothing."

MEASURES = {
    "total": "relative error of the total",
    "local": "relative error of local counts",
    "absolute": "error of local counts (cliques)",
}

_CONFIDENCE = 1.96

_LABELS = {
    "elv": "elv (extended local views)",
    "published": "published (promises nothing)",
    "critical": "critical (pairs inside groups)",
    "edge": "edge (every connection)",
}
_MECHANISMS = ("elv", "published", "critical", "edge")


def drawings(name: str, finished: Finished) -> Mapping[str, Callable[[Any], None]]:
    """Return what draws each picture of an experiment, by the picture's name: called with its path.

    None where nothing is there to draw: no cell, none of cohesions, or none at any value of what is swept.
    """
    if not len(finished) or (name in _STRUCTURE and not len(finished.where(kind="sets"))):
        return {}
    if name in _SWEEPS and not finished.values(_SWEEPS[name][0]):
        return {}
    if name in _STRUCTURE:
        return {name: lambda path: _STRUCTURE[name](finished, path)}
    if name in _SWEEPS:
        return {f"{name}-{measure}": _sweep_drawer(name, finished, measure) for measure in MEASURES}
    if name in _OVER_GRAPHS:
        return {f"{name}-{measure}": _graphs_drawer(name, finished, measure) for measure in MEASURES}
    if name == "h-celegans":
        return {name: lambda path: _draw_bounds(finished, path)}
    if name == "losses":
        return {name: lambda path: _draw_losses(finished, path)}
    return {}


# --- Distributions


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
        seen: dict[str, Any] = {}
        for each in (top, *axes[1]):
            seen |= dict(zip(*reversed(each.get_legend_handles_labels()), strict=True))
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

_STRUCTURE: dict[str, Callable[[Finished, Any], None]] = {
    "score-density": lambda f, path: _distributions(f, path, "densities", ("Gnutella08", "HepPh"), _BY_SCORE),
    "score-size": lambda f, path: _distributions(f, path, "sizes", ("Gnutella08", "HepPh"), _BY_SCORE),
    "view-density": lambda f, path: _distributions(f, path, "densities", ("USAirport", "SisterCity"), _AGAINST),
    "view-size": lambda f, path: _distributions(f, path, "sizes", ("WIKIVote", "Yeast"), _AGAINST),
}


def _legend(figure: Any, seen: Mapping[str, Any], title: str = PROMISES) -> None:
    """Put a legend of mechanisms under the panels, by label."""
    figure.legend(list(seen.values()), list(seen), loc="outside lower center", ncols=2, title=title, title_fontsize=8)


# --- Errors along a parameter


class _Series:
    """One mechanism in one panel."""

    def __init__(self, mechanism: str, switched: bool) -> None:
        look = plots.look(mechanism)
        self.mechanism, self.switched = mechanism, switched
        self.label = _LABELS[mechanism] + (", the paper's switches" if switched else "")
        self.colour = look.colour
        self.style: dict[str, Any] = {"color": look.colour, "linestyle": look.dash, "marker": look.marker}
        if switched:
            self.style |= {"markerfacecolor": "white", "markeredgewidth": 0.7, "linewidth": 0.8}


_SERIES = [*((name, False) for name in _MECHANISMS), ("elv", True), ("published", True)]

Points = list[tuple[float, Result]]


def _points(finished: Finished, series: _Series, along: str, given: Mapping[str, Any]) -> Points:
    """The results of one series by the swept parameter; a series that does not depend on it comes as one point, NaN."""
    switches = paper_switches(finished.values("k")[0]) if series.switched else ()
    mine = finished.where(kind="release", mechanism=series.mechanism, switches=switches)
    has = {name: value for name, value in given.items() if any(getattr(cell, name) is not None for cell, _ in mine)}
    found: Points = []
    for cell, result in mine.where(**has):
        at = getattr(cell, along)
        found.append((float("nan") if at is None else float(at), result))
    return sorted(found, key=lambda point: point[0])


def _at_edge(axes: Any, xs: Sequence[float], height: float, series: _Series, what: str, marker: str = "x") -> None:
    """Mark what a logarithmic axis has no place for, at a height between 0 and 1, and name it in the legend."""
    if xs:
        axes.plot(
            xs,
            [height] * len(xs),
            marker,
            color=series.colour,
            transform=axes.get_xaxis_transform(),
            label=f"{series.label}: {what}",
            clip_on=False,
        )


_NO_ERROR = "no error at all"


def _draw_series(axes: Any, series: _Series, points: Points, measure: str, ends: tuple[float, float]) -> None:
    middle = sum(ends) / 2  # of what does not depend on what is swept
    places = [(middle if np.isnan(x) else x, result) for x, result in points]
    _at_edge(axes, [x for x, result in places if "refused" in result], 0.97, series, "refused for size")
    _at_edge(axes, [x for x, result in places if result.get(measure) == 0], 0.03, series, _NO_ERROR, "v")
    shown = [(x, result) for x, result in points if result.get(measure, 0) > 0]
    if not shown:
        return
    xs = np.array([x for x, _ in shown])
    means, errors = (np.array([result[name] for _, result in shown]) for name in (measure, f"{measure}_error"))
    style = dict(series.style)
    if np.isnan(xs).any():  # it does not depend on what is swept
        xs, means, errors, style["marker"] = np.array(ends), means[[0, 0]], errors[[0, 0]], ""
    if len(xs) > 15:
        style["markevery"] = 6
    axes.plot(xs, means, label=series.label, **style)
    band = _CONFIDENCE * errors
    axes.fill_between(xs, np.maximum(means - band, means * 0.02), means + band, color=series.colour, alpha=0.25, lw=0)


def _sweep(
    finished: Finished,
    path: Any,
    measure: str,
    along: str,
    panels: Sequence[Mapping[str, Any]],
) -> None:
    columns = 2
    rows = -(-len(panels) // columns)
    ends = sorted(float(value) for value in finished.values(along))
    with plots.new_figure(rows, columns, height=1.1 + 1.9 * rows, sharex=True, sharey=True) as (figure, axes):
        seen: dict[str, Any] = {}
        for i, (place, given) in enumerate(zip(axes.ravel().tolist(), panels, strict=True)):
            for series in (_Series(*each) for each in _SERIES):
                points = _points(finished, series, along, given)
                _draw_series(place, series, points, measure, (min(ends), max(ends)))
            place.set_yscale("log")
            place.set_title(", ".join(f"{_SIGNS[key]} = {value}" for key, value in given.items()))
            if along == "p":
                place.set_xticks(ends)
            if i >= len(panels) - columns:
                place.set_xlabel(_SIGNS[along])
            if i % columns == 0:
                place.set_ylabel(MEASURES[measure].replace(" of ", "\nof "))
            seen |= dict(zip(*reversed(place.get_legend_handles_labels()), strict=True))
        figure.legend(
            list(seen.values()), list(seen), loc="outside lower center", ncols=2, title=PROMISES, title_fontsize=8
        )
        plots.save_figure(figure, path)


_SIGNS = {"p": "p", "h": "h", "epsilon": "ε", "epsilon_1": "ε1", "k": "k"}

_BY_P = [{"h": h, "epsilon": epsilon} for h in HS_BY_P for epsilon in EPSILONS_BY_P]
_BY_EPSILON = [{"h": h} for h in HS_BY_EPSILON]
_BY_EPSILON_1 = [{"h": h} for h in HS_BY_EPSILON_1]

_SWEEPS: dict[str, tuple[str, Sequence[Mapping[str, Any]]]] = {
    "p-hepth": ("p", _BY_P),
    "p-bitcoin": ("p", _BY_P),
    "epsilon-usairport": ("epsilon", _BY_EPSILON),
    "epsilon-usairport-k4": ("epsilon", _BY_EPSILON),
    "epsilon1-celegans": ("epsilon_1", _BY_EPSILON_1),
}


def _sweep_drawer(name: str, finished: Finished, measure: str) -> Callable[[Any], None]:
    along, panels = _SWEEPS[name]
    return lambda path: _sweep(finished, path, measure, along, panels)


def _draw_bounds(finished: Finished, path: Any) -> None:
    """The bound of the local sensitivity by h, beside the most that removing one connection does change."""
    panels = [{"epsilon": epsilon} for epsilon in EPSILONS_BY_H]
    graph = finished.one(kind="graph")
    with plots.new_figure(2, 2, height=5.0, sharex=True, sharey=True) as (figure, axes):
        seen: dict[str, Any] = {}
        for i, (place, given) in enumerate(zip(axes.ravel().tolist(), panels, strict=True)):
            for series in (_Series(*each) for each in _SERIES if each[0] != "critical"):
                _draw_series(place, series, _points(finished, series, "h", given), "bound", (HS[0], HS[-1]))
            if graph is not None:
                look = plots.look("exact")
                place.axhline(
                    graph["largest_change"], color=look.colour, lw=0.8, label="most that one connection changes"
                )
            place.set_yscale("log")
            place.set_title(f"ε = {given['epsilon']}")
            if i >= 2:
                place.set_xlabel("h")
            if i % 2 == 0:
                place.set_ylabel("bound of the\nlocal sensitivity")
            seen |= dict(zip(*reversed(place.get_legend_handles_labels()), strict=True))
        figure.legend(
            list(seen.values()), list(seen), loc="outside lower center", ncols=2, title=PROMISES, title_fontsize=8
        )
        plots.save_figure(figure, path)


# --- All graphs side by side

_OVER_GRAPHS = ("all-10", "all-5", "all-10-k4")


def _graphs_drawer(name: str, finished: Finished, measure: str) -> Callable[[Any], None]:
    return lambda path: _over_graphs(finished, path, measure)


def _over_graphs(finished: Finished, path: Any, measure: str) -> None:
    names = finished.values("graph")
    with plots.new_figure(1, 1, height=3.8) as (figure, axes):
        place = axes[0, 0]
        for j, series in enumerate(_Series(*each) for each in _SERIES):
            switches = paper_switches(finished.values("k")[0]) if series.switched else ()
            mine = finished.where(mechanism=series.mechanism, switches=switches)
            xs, means, errors, refused, none = [], [], [], [], []
            for i, name in enumerate(names):
                result = mine.one(graph=name) or {}
                at = i + (j - 2.5) * 0.13
                if "refused" in result:
                    refused.append(at)
                elif result.get(measure) == 0:
                    none.append(at)
                elif measure in result:
                    xs.append(at)
                    means.append(result[measure])
                    errors.append(_CONFIDENCE * result[f"{measure}_error"])
            low = [min(error, 0.98 * mean) for mean, error in zip(means, errors, strict=True)]
            style = {**series.style, "linestyle": "", "label": series.label}
            place.errorbar(xs, means, yerr=[low, errors], elinewidth=0.8, **style)
            _at_edge(place, refused, 0.98, series, "refused for size")
            _at_edge(place, none, 0.02, series, _NO_ERROR, "v")
        for i in range(len(names) - 1):
            place.axvline(i + 0.5, color="#BBBBBB", lw=0.5)
        place.set_yscale("log")
        place.set_xticks(range(len(names)), names)
        place.grid(False, axis="x")
        place.set_ylabel(MEASURES[measure])
        _legend(figure, dict(zip(*reversed(place.get_legend_handles_labels()), strict=True)))
        plots.save_figure(figure, path)


def _draw_losses(finished: Finished, path: Any) -> None:
    """The worst loss of one connection, over ε."""
    with plots.new_figure(len(LOSSES), 1, height=6.8, sharex=True, sharey=True) as (figure, axes):
        names = finished.values("graph")
        for place, (k, epsilon) in zip(axes[:, 0], LOSSES, strict=True):
            mine = finished.where(k=k, epsilon=epsilon)
            infinite: list[tuple[float, _Series]] = []
            inside: list[tuple[float, float]] = []
            for j, series in enumerate(_Series(*each) for each in _SERIES):
                switches = paper_switches(k) if series.switched else ()
                xs, ys = [], []
                for i, name in enumerate(names):
                    result = mine.one(graph=name, mechanism=series.mechanism, switches=switches) or {}
                    at = i + (j - 2.5) * 0.13
                    if series.mechanism == "critical" and "inside" in result:
                        inside.append((at, result["inside"] / float(epsilon)))
                    if result.get("connections") == float("inf"):
                        infinite.append((at, series))
                    elif "connections" in result:
                        xs.append(at)
                        ys.append(result["connections"] / float(epsilon))
                place.plot(xs, ys, **{**series.style, "linestyle": "", "label": series.label})
            critical = {**_Series("critical", True).style, "linestyle": ""}
            if inside:
                place.plot(*zip(*inside, strict=True), **critical, label="critical, loss of a pair inside groups")
            for at, series in infinite:
                style = {**series.style, "linestyle": "", "clip_on": False}
                place.plot([at], [1.0], transform=place.get_xaxis_transform(), **style)
            place.axhline(1, color="black", lw=0.8)
            for i in range(len(names) - 1):
                place.axvline(i + 0.5, color="#BBBBBB", lw=0.5)
            place.set_yscale("log")
            place.set_title(f"k = {k}, ε = {epsilon}")
            place.set_xticks(range(len(names)), names)
            place.grid(False, axis="x")
            place.set_ylabel("worst loss / ε")
        seen = dict(zip(*reversed(axes[0, 0].get_legend_handles_labels()), strict=True))
        _legend(figure, seen, f"On the upper edge: infinite. {PROMISES}")
        plots.save_figure(figure, path)
