"""Extended local views (ALGORITHM.md#extended-local-view): how large and how dense they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import CohesionBatch, Graph
from pcneo.counting.cliques import clique_counts

Counts = NDArray[np.int64]


def view_sizes(graph: Graph) -> Counts:
    """Return how many vertices are within two hops of each, itself included: int64, shape (n,)."""
    sizes = np.zeros(graph.vertex_count, np.int64)
    seen = np.full(graph.vertex_count, -1, np.int64)
    offsets, neighbours = graph.offsets.tolist(), graph.neighbours
    for v in range(graph.vertex_count):
        around = neighbours[offsets[v] : offsets[v + 1]]
        seen[v] = v
        seen[around] = v
        reached = 1 + len(around)
        for u in around.tolist():
            further = neighbours[offsets[u] : offsets[u + 1]]
            fresh = further[seen[further] != v]
            seen[fresh] = v
            reached += len(fresh)
        sizes[v] = reached
    return sizes


def view_edges(graph: Graph) -> Counts:
    """Return how many edges touch each vertex or a neighbour of it: int64, shape (n,).

    The degrees of the closed neighbourhood count an edge inside it twice: those to v, and those that close a triangle.
    """
    degrees = graph.degrees
    running = np.concatenate((np.zeros(1, np.int64), np.cumsum(degrees[graph.neighbours])))
    around = running[graph.offsets[1:]] - running[graph.offsets[:-1]]
    return degrees + around - (degrees + clique_counts(graph, 3))


def views_inside(graph: Graph, batch: CohesionBatch) -> NDArray[np.bool_]:
    """Return for each cohesion whether all vertices within two hops of its vertex are members: bool, shape (b,)."""
    inside = np.zeros(len(batch), np.bool_)
    member = np.zeros(graph.vertex_count, np.bool_)
    for i, v in enumerate(batch.vertices.tolist()):
        members = batch.members_of(i)
        member[members] = True
        around = graph.neighbours_of(v)
        inside[i] = member[around].all() and all(member[graph.neighbours_of(u)].all() for u in around.tolist())
        member[members] = False
    return inside


def densities(sizes: Counts, edges: Counts) -> NDArray[np.float64]:
    """Return 2·edges/(size·(size-1)), NaN where the size is 1."""
    pairs = sizes * (sizes - 1)
    return np.divide(2.0 * edges, pairs, out=np.full(len(sizes), np.nan), where=pairs > 0)


def component_sizes(graph: Graph) -> Counts:
    """Return how many vertices each vertex is connected with, itself included: int64, shape (n,)."""
    sizes = np.zeros(graph.vertex_count, np.int64)
    for start in range(graph.vertex_count):
        if sizes[start]:
            continue
        component = front = np.array([start])
        sizes[start] = 1
        while len(front):
            rows = [graph.neighbours_of(v) for v in front.tolist()]
            reached = np.unique(np.concatenate(rows))
            front = reached[sizes[reached] == 0].astype(np.int64)
            sizes[front] = 1
            component = np.concatenate((component, front))
        sizes[component] = len(component)
    return sizes
