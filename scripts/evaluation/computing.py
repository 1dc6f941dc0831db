"""What a cell computes, by its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

from evaluation.cells import Cell, Result
from evaluation.cohesion_arrays import GraphArrays, RefusedError, Sets
from evaluation.simulated_releases import errors_of_releases, sources_of
from evaluation.sizes_and_densities import STRUCTURE
from evaluation.worst_losses import largest_losses

__all__ = ["compute", "prepare"]

_KINDS: Mapping[str, Callable[[Cell, GraphArrays, Sets], Result]] = {
    **STRUCTURE,
    "release": errors_of_releases,
    "loss": largest_losses,
}


def compute(cell: Cell, graph: GraphArrays, sets: Sets) -> Result:
    """Compute a cell.

    Args:
        cell: the cell.
        graph: its graph.
        sets: the cohesions at the cell's p for a score.
    """
    return _KINDS[cell.kind](cell, graph, sets)


def prepare(cell: Cell, graph: GraphArrays, sets: Sets) -> None:
    """Compute the arrays that the cell needs, which may use all cores; `compute` then uses one."""
    if cell.kind == "release":
        with suppress(RefusedError):
            sources_of(cell, graph, sets)
