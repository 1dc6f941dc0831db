"""Errors of the total along ε, a panel for each graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from evaluation.beside.beside_text import Rows, median_of
from evaluation.beside.papers import MECHANISMS
from evaluation.drawing.marks import picture
from pcneo import plots

_LOOKS = {"oriented": "elv", "total": "density"}
"""Looks of what has none of its own; neither search nor view is in this picture."""


def draw_beside(rows: Rows, path: Path, title: str = "Relative error of the number of triangles") -> None:
    """Draw medians with their 95 % intervals."""
    names = rows.values(lambda cell: cell.graph)
    columns = min(2 if len(names) <= 4 else 3, len(names))
    lines = -(-len(names) // columns)
    note = "At equal ε the mechanisms promise different things. Grey: as far off as zero."
    with picture(path, title, lines, columns, height=1.4 + 1.9 * lines, note=note) as places:
        panels = list(places.reshape(-1))
        for panel in panels[len(names) :]:
            panel.set_axis_off()
        for panel, name in zip(panels, names, strict=False):
            for mechanism in MECHANISMS:
                _draw_line(panel, mechanism, rows.where(graph=name, mechanism=mechanism))
            panel.axhline(1, color="#999999", linewidth=0.8)
            panel.set(yscale="log", title=name, xlabel="ε of a connection", ylabel="error / total")


def _draw_line(panel: Any, mechanism: str, rows: Rows) -> None:
    points = [(float(cell.epsilon), *median_of(result["totals"])) for cell, result in rows if "totals" in result]
    if not points:
        return
    epsilon, low, middle, high = np.array(sorted(points)).T
    style = {**plots.look(_LOOKS.get(mechanism, mechanism)).line, "label": MECHANISMS[mechanism].label}
    panel.errorbar(epsilon, middle, yerr=(middle - low, high - middle), capsize=2, elinewidth=0.8, **style)
