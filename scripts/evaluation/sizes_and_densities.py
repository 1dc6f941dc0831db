"""Sizes and densities of cohesions and extended local views: from arrays to the few numbers of a cell.

Isolated vertices count in the statistics of a graph and are left out of everything else.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from evaluation import local_views
from evaluation.cohesion_arrays import CohesionArrays
from evaluation.datasets import Counts
from evaluation.graph_arrays import GraphArrays
from evaluation.kept_arrays import RefusedError
from evaluation.results import (
    Cliques,
    Comparison,
    Coverage,
    Distribution,
    GraphCounts,
    Overlap,
    Refused,
    Sizes,
    ViewsInside,
)

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
"""Of a distribution: at each share the least value that this share of all values does not exceed."""

Values = NDArray[np.float64] | NDArray[np.int64]
Integers = NDArray[np.int64]


def graph_counts(graph: GraphArrays) -> GraphCounts:
    """Return the statistics of a graph."""
    counts = Counts.of(graph.graph)
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


def cliques_of(graph: GraphArrays, k: int) -> Cliques:
    """Return how many k-cliques a graph has, and vertices have."""
    counts = graph.counts(k)
    return {
        "total": sum(counts.tolist()) // k,
        "mean": float(counts.mean()),
        "in_one": float((counts > 0).mean()),
    }


def connections_inside(graph: GraphArrays, cohesions: CohesionArrays) -> Coverage | Refused:
    """Return how many connections lie inside groups, or why that is not known."""
    try:
        return {"connections": graph.graph.edge_count, "inside": len(cohesions.connections_inside)}
    except RefusedError as error:
        return {"refused": str(error)}


def sizes_of_views(graph: GraphArrays) -> Sizes:
    """Describe the extended local views."""
    sizes, edges = graph.view_sizes[graph.linked], graph.view_edges[graph.linked]
    return _described(sizes, edges, graph.components[graph.linked])


def sizes_of_cohesions(graph: GraphArrays, cohesions: CohesionArrays) -> Sizes:
    """Describe the cohesions."""
    sizes, edges, vertices = _linked(graph, cohesions)
    return _described(sizes, edges, graph.components[vertices])


def compare_scores(graph: GraphArrays, by_density: CohesionArrays, by_degree: CohesionArrays) -> Comparison:
    """Compare the cohesions of the density score with those of the degree score, vertex by vertex."""
    sizes, edges, _ = _linked(graph, by_density)
    other_sizes, other_edges, _ = _linked(graph, by_degree)
    return _compared(sizes, edges, other_sizes, other_edges)


def overlap_of_scores(graph: GraphArrays, by_density: CohesionArrays, by_degree: CohesionArrays) -> Overlap:
    """Return how much the cohesions of the two scores overlap: shared members over members of either."""
    first, second = by_density.batch, by_degree.batch
    shares = []
    for i in np.flatnonzero(graph.linked[first.vertices]).tolist():
        members, others = (batch.members_of(i) for batch in (first, second))
        shared = len(np.intersect1d(members, others, assume_unique=True))
        shares.append(shared / (len(members) + len(others) - shared))
    return {"vertices": len(shares), "overlap": float(np.mean(shares))}


def compare_with_views(graph: GraphArrays, cohesions: CohesionArrays) -> Comparison:
    """Compare the cohesions with the extended local views, vertex by vertex."""
    sizes, edges, vertices = _linked(graph, cohesions)
    return _compared(sizes, edges, graph.view_sizes[vertices], graph.view_edges[vertices])


def share_of_views_inside(graph: GraphArrays, cohesions: CohesionArrays) -> ViewsInside:
    """Return the share of vertices whose extended local view lies inside their cohesion."""
    batch = cohesions.batch
    inside = local_views.views_inside(graph.graph, batch)[graph.linked[batch.vertices]]
    return {"vertices": len(inside), "views_inside": float(inside.mean())}


def _linked(graph: GraphArrays, cohesions: CohesionArrays) -> tuple[Integers, Integers, Integers]:
    """Sizes, edges and vertices of the cohesions, without isolated vertices."""
    linked = graph.linked[cohesions.vertices]
    return cohesions.sizes[linked], cohesions.edges[linked], cohesions.vertices[linked]


def _described(sizes: Integers, edges: Integers, components: Integers) -> Sizes:
    return {
        "vertices": len(sizes),
        "sizes": _distribution(sizes),
        "densities": _distribution(local_views.densities(sizes, edges)),
        "of_component": float(np.mean(sizes / components)),
    }


def _distribution(values: Values) -> Distribution:
    ascending = np.sort(values)
    places = [max(0, math.ceil(share * len(ascending)) - 1) for share in QUANTILES]
    return {"quantiles": [float(ascending[i]) for i in places], "mean": float(values.mean())}


def _compared(sizes: Integers, edges: Integers, other_sizes: Integers, other_edges: Integers) -> Comparison:
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
    """The largest difference of the two distribution functions (Kolmogorov-Smirnov): 0 for equal, 1 for disjoint."""
    places = np.concatenate((values, others))
    first, second = (np.searchsorted(np.sort(part), places, side="right") / len(part) for part in (values, others))
    return float(np.abs(first - second).max())
