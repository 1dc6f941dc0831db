"""The picture of the report on answers: groups, sizes and sameness over p."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.ticker import LogLocator

from evaluation.answers.alternatives import ALTERNATIVES
from evaluation.answers.set_figures import Figures
from evaluation.drawing.marks import picture
from pcneo import plots
from pcneo.basics.searches import SEARCHES

_LINES = dict(zip(ALTERNATIVES, ((":", "#777777"), ("--", "#AA4499"), ("-.", "#117733")), strict=True))
_PANELS = (("own_group", "in own group (%)"), ("same", "same (%)"))


def draw_answers(figures: Sequence[Figures], path: Path) -> None:
    """Draw for each graph with groups how true and how steady sets are over p, and below sizes on all graphs."""
    grouped = list(dict.fromkeys(one.graph for one in figures if one.own_group is not None))
    others = list(dict.fromkeys(one.graph for one in figures))
    rows = len(grouped) + 1
    heading, note = "How true, how steady and how large sets are", "Searches, and what could be taken instead"
    with picture(path, heading, rows, 2, height=1.6 + 1.9 * rows, note=note) as axes:
        for graph, panels in zip(grouped, axes, strict=False):
            for panel, (quantity, words) in zip(panels, _PANELS, strict=True):
                _along_p(panel, [one for one in figures if one.graph == graph], quantity)
                panel.set(title=graph, xlabel="p", ylabel=words, ylim=(0, 104))
        for panel, p in zip(axes[-1], ("0.1", "0.3"), strict=True):
            _sizes(panel, figures, others, p)


def _along_p(panel: Any, figures: Sequence[Figures], quantity: str) -> None:
    for search in SEARCHES:
        points = [(float(one.p), 100 * getattr(one, quantity)) for one in figures if one.way == search]
        if points:
            panel.plot(*zip(*points, strict=True), **plots.look(search).line)
    for one in figures:
        if one.way in _LINES:
            dash, colour = _LINES[one.way]
            panel.axhline(100 * getattr(one, quantity), linestyle=dash, color=colour, linewidth=1, label=one.way)


def _sizes(panel: Any, figures: Sequence[Figures], graphs: Sequence[str], p: str) -> None:
    if not any(one.p == p for one in figures):
        panel.set_axis_off()
        return
    for search in SEARCHES:
        sizes = {one.graph: one.size for one in figures if one.way == search and one.p == p}
        style = {**plots.look(search).line, "linestyle": ""}
        panel.plot(list(sizes.values()), [graphs.index(graph) for graph in sizes], **style)
    panel.set_yticks(range(len(graphs)), graphs, fontsize=6)
    panel.set(title=f"p = {p}", xlabel="mean size (members)", xscale="log")
    panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.xaxis.set_major_formatter("{x:g}")
    panel.minorticks_off()
    panel.invert_yaxis()
