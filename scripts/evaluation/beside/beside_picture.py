"""Errors of the total along ε, a panel for each graph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.beside.beside_text import Row, median_of
from evaluation.beside.papers import MECHANISMS
from evaluation.drawing.marks import labelled, legend
from pcneo import plots

__all__ = ["draw_beside"]

_LOOKS = {"oriented": "elv", "total": "density"}
"""Looks of what has none of its own; neither search nor view is in this picture."""


def draw_beside(rows: Sequence[Row], path: Path, title: str = "Relative error of the number of triangles") -> None:
    """Draw medians with their 95 % intervals."""
    names = list(dict.fromkeys(row.cell.graph for row in rows))
    columns = 2 if len(names) <= 4 else 3
    columns = min(columns, len(names))
    lines = -(-len(names) // columns)
    with plots.new_figure(lines, columns, height=1.4 + 1.9 * lines) as (figure, places):
        panels = list(places.reshape(-1))
        for panel in panels[len(names) :]:
            panel.set_axis_off()
        for panel, name in zip(panels, names, strict=False):
            for mechanism in MECHANISMS:
                _draw_line(panel, mechanism, [row for row in rows if row.cell.graph == name])
            panel.axhline(1, color="#999999", linewidth=0.8)
            panel.set(yscale="log", title=name, xlabel="ε of a connection", ylabel="error / total")
        figure.suptitle(title, fontsize=10)
        legend(
            figure, labelled(*panels), "At equal ε the mechanisms promise different things. Grey: as far off as zero."
        )
        plots.save_figure(figure, path)


def _draw_line(panel: Any, mechanism: str, rows: Sequence[Row]) -> None:
    points = [
        (float(row.cell.epsilon), *median_of(row.result["totals"]))
        for row in rows
        if row.cell.mechanism == mechanism and "totals" in row.result
    ]
    if not points:
        return
    epsilon, low, middle, high = np.array(sorted(points)).T
    style = {**plots.look(_LOOKS.get(mechanism, mechanism)).line, "label": MECHANISMS[mechanism].label}
    panel.errorbar(
        epsilon,
        middle,
        yerr=(middle - low, high - middle),
        capsize=2,
        elinewidth=0.8,
        **style,
    )
