"""What computes a cell, by its kind."""

from __future__ import annotations

from typing import assert_never

from evaluation import sizes_and_densities as structure
from evaluation.beside.simulated_runs import run_by_run
from evaluation.cells import (
    AgainstCell,
    BesideCell,
    Cell,
    CliquesCell,
    CohesionsCell,
    CoverageCell,
    GraphCell,
    LossCell,
    OverlapCell,
    ReleaseCell,
    ScoresCell,
    SubsetsCell,
    ViewsCell,
)
from evaluation.cohesion_arrays import CohesionsOf
from evaluation.graph_arrays import GraphArrays
from evaluation.results import Result
from evaluation.simulated_releases import errors_of_releases
from evaluation.worst_losses import largest_losses


def compute(cell: Cell, graph: GraphArrays, cohesions: CohesionsOf) -> Result:
    """Compute a cell from its graph and the cohesions at its p."""
    match cell:
        case GraphCell():
            return structure.graph_counts(graph)
        case ViewsCell():
            return structure.sizes_of_views(graph)
        case CohesionsCell():
            return structure.sizes_of_cohesions(graph, cohesions(cell.score))
        case ScoresCell():
            return structure.compare_scores(graph, cohesions("density"), cohesions("degree"))
        case OverlapCell():
            return structure.overlap_of_scores(graph, cohesions("density"), cohesions("degree"))
        case AgainstCell():
            return structure.compare_with_views(graph, cohesions(cell.score))
        case SubsetsCell():
            return structure.share_of_views_inside(graph, cohesions(cell.score))
        case ReleaseCell():
            return errors_of_releases(cell, graph, cohesions)
        case LossCell():
            return largest_losses(cell, graph, cohesions)
        case CliquesCell():
            return structure.cliques_of(graph, cell.k)
        case CoverageCell():
            return structure.connections_inside(graph, cohesions(cell.score))
        case BesideCell():
            return run_by_run(cell, graph, cohesions)
    assert_never(cell)
