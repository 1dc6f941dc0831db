"""What cells of sizes and densities compute, from arrays to a few numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation import local_views
from evaluation.cells import Cell, Result, text_of
from evaluation.cohesion_arrays import GraphArrays, SetArrays, Sets
from evaluation.datasets import Counts

__all__ = ["QUANTILES", "STRUCTURE"]

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
"""That describe a distribution: values that occur, the share of all values that they do not pass."""

Values = NDArray[np.float64] | NDArray[np.int64]


def _graph(cell: Cell, graph: GraphArrays, sets: Sets) -> Result:
    arrays = graph.graph
    counts = Counts.of(arrays)
    return {
        "nodes": counts.nodes,
        "edges": counts.edges,
        "mean_degree": 2 * counts.edges / counts.nodes,
        "largest_degree": counts.largest_degree,
        "triangles": counts.triangles,
        "isolated": int((~graph.linked).sum()),
        "largest_component": int(graph.components.max(initial=0)),
        "largest_change": graph.largest_change(3),
    }


def _views(cell: Cell, graph: GraphArrays, sets: Sets) -> Result:
    sizes, edges = graph.view_sizes[graph.linked], graph.view_edges[graph.linked]
    return _described(sizes, edges, graph.components[graph.linked])


def _sets(cell: Cell, graph: GraphArrays, sets: Sets) -> Result:
    sizes, edges, vertices = _linked(graph, sets(text_of(cell.score)))
    return _described(sizes, edges, graph.components[vertices])


def _linked(graph: GraphArrays, sets: SetArrays) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Sizes, edges and vertices of the cohesions, without isolated vertices."""
    linked = graph.linked[sets.vertices]
    return sets.sizes[linked], sets.edges[linked], sets.vertices[linked]


def _described(sizes: NDArray[np.int64], edges: NDArray[np.int64], components: NDArray[np.int64]) -> Result:
    return {
        "vertices": len(sizes),
        "sizes": _distribution(sizes),
        "densities": _distribution(local_views.densities(sizes, edges)),
        "of_component": float(np.mean(sizes / components)),
    }


def _distribution(values: Values) -> dict[str, Any]:
    ascending = np.sort(values)
    places = [max(0, math.ceil(share * len(ascending)) - 1) for share in QUANTILES]
    return {"quantiles": [float(ascending[i]) for i in places], "mean": float(values.mean())}


def _scores(cell: Cell, graph: GraphArrays, sets: Sets) -> Result:
    """The density score against the degree score, vertex by vertex."""
    sizes, edges, _ = _linked(graph, sets("density"))
    other_sizes, other_edges, _ = _linked(graph, sets("degree"))
    return _compared(sizes, edges, other_sizes, other_edges)


def _overlap(cell: Cell, graph: GraphArrays, sets: Sets) -> Result:
    """How much the sets of the two scores have in common: shared members over members of either, vertex by vertex."""
    first, second = sets("density").batch, sets("degree").batch
    shares = []
    for i in np.flatnonzero(graph.linked[first.vertices]).tolist():
        mine, other = (each.members[each.offsets[i] : each.offsets[i + 1]] for each in (first, second))
        shared = len(np.intersect1d(mine, other, assume_unique=True))
        shares.append(shared / (len(mine) + len(other) - shared))
    return {"vertices": len(shares), "overlap": float(np.mean(shares))}


def _against(cell: Cell, graph: GraphArrays, sets: Sets) -> Result:
    """Cohesions against extended local views, vertex by vertex."""
    sizes, edges, vertices = _linked(graph, sets(text_of(cell.score)))
    return _compared(sizes, edges, graph.view_sizes[vertices], graph.view_edges[vertices])


def _subsets(cell: Cell, graph: GraphArrays, sets: Sets) -> Result:
    """How many extended local views lie inside their vertex's cohesion."""
    batch, linked = sets(text_of(cell.score)).batch, graph.linked
    inside = local_views.views_inside(graph.graph, batch)[linked[batch.vertices]]
    return {"vertices": len(inside), "views_inside": float(inside.mean())}


def _compared(
    sizes: NDArray[np.int64], edges: NDArray[np.int64], other_sizes: NDArray[np.int64], other_edges: NDArray[np.int64]
) -> Result:
    dense, other_dense = local_views.densities(sizes, edges), local_views.densities(other_sizes, other_edges)
    return {
        "vertices": len(sizes),
        "denser": float(np.mean(dense > other_dense)),
        "as_dense": float(np.mean(dense == other_dense)),
        "smaller": float(np.mean(sizes < other_sizes)),
        "as_small": float(np.mean(sizes == other_sizes)),
        "size_ratio": float(np.median(sizes / other_sizes)),
        "mean_size_ratio": float(sizes.mean() / other_sizes.mean()),
        "mean_density_ratio": float(dense.mean() / other_dense.mean()),
        "size_distance": _distance(sizes, other_sizes),
        "density_distance": _distance(dense, other_dense),
    }


def _distance(values: Values, others: Values) -> float:
    """The largest difference between two distribution functions (Kolmogorov and Smirnov): 0 the same, 1 apart."""
    places = np.concatenate((values, others))
    first, second = (np.searchsorted(np.sort(each), places, side="right") / len(each) for each in (values, others))
    return float(np.abs(first - second).max())


STRUCTURE: Mapping[str, Callable[[Cell, GraphArrays, Sets], Result]] = {
    "graph": _graph,
    "views": _views,
    "sets": _sets,
    "scores": _scores,
    "overlap": _overlap,
    "against": _against,
    "subsets": _subsets,
}
"""What computes a cell, by its kind."""
