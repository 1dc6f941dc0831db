"""Turns cohesions into networkx graphs, and into streams of nodes and edges for an export."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import CohesionAround, CohesionBatch, Graph, Key, ShownCohesion, StoredCohesions
from pcneo.basics.run_record import RunRecord
from pcneo.counting.cliques import edge_ends
from pcneo.errors import ParameterError

if TYPE_CHECKING:
    import networkx


Attributes = dict[str, Any]


@dataclass(frozen=True)
class Network:
    """An undirected graph with attributes whose nodes and edges are made as they are iterated over.

    Attributes:
        attributes: those of the graph.
        node_count, edge_count: how many nodes and edges it has.
        memberships: total number of members in the nodes' attributes.
        nodes: yields (key, attributes), ascending by key.
        edges: yields (smaller key, larger key, attributes), ascending.
    """

    attributes: Attributes
    node_count: int
    edge_count: int
    memberships: int
    nodes: Callable[[], Iterator[tuple[Key, Attributes]]]
    edges: Callable[[], Iterator[tuple[Key, Key, Attributes]]]


@overload
def to_networkx(cohesions: CohesionAround | StoredCohesions) -> networkx.Graph[Key]: ...
@overload
def to_networkx(cohesions: CohesionBatch, graph: Graph) -> networkx.Graph[Key]: ...
def to_networkx(
    cohesions: CohesionAround | StoredCohesions | CohesionBatch, graph: Graph | None = None
) -> networkx.Graph[Key]:
    """Return one cohesion, or a graph with all of its cohesions, as a networkx graph whose nodes are keys.

    One cohesion becomes the graph of its members and critical connections; the nodes have their `hops` from the vertex
    (3 stands for three and more).

    A batch or a run becomes the whole graph. A node with a cohesion has its `size`, `edges`, `density` and `members`
    (the keys as JSON, since GraphML and GEXF take no list); every node has `needed`, the number of cohesions it
    is a member of, and every edge has `critical`, the number of cohesions it lies in.

    Returns:
        A new graph: changing it does not change anything that was passed.
    """
    import networkx

    network = network_of(cohesions, graph)
    result: networkx.Graph[Key] = networkx.Graph(**network.attributes)
    result.add_nodes_from((key, as_scalars(attributes)) for key, attributes in network.nodes())
    result.add_edges_from(network.edges())
    return result


def as_scalars(attributes: Attributes) -> Attributes:
    """Return the attributes with each list as JSON."""
    return {
        name: json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value
        for name, value in attributes.items()
    }


def network_of(cohesions: CohesionAround | StoredCohesions | CohesionBatch, graph: Graph | None = None) -> Network:
    """Return the nodes and edges of `to_networkx`, to be made on demand."""
    if isinstance(cohesions, CohesionAround):
        stored = _stored_as(cohesions.run) if isinstance(cohesions, ShownCohesion) else {}
        return _of_one(cohesions, stored)
    if isinstance(cohesions, StoredCohesions):
        return _of_all(cohesions.graph, cohesions.cohesions, cohesions.critical, _stored_as(cohesions.run))
    if graph is None:
        raise ParameterError("Give the graph that was searched along with its cohesions.", name="graph", value=None)
    if not np.array_equal(cohesions.keys, graph.keys):
        raise ParameterError("The cohesions do not belong to this graph.", name="graph", value=None)
    return _of_all(graph, cohesions, critical_counts(graph, cohesions)[0], {})


def _of_one(around: CohesionAround, further: Attributes) -> Network:
    cohesion, hops = around.cohesion, around.hops
    return Network(
        attributes={**further, **cohesion.as_row()},
        node_count=cohesion.size,
        edge_count=len(around.connections),
        memberships=0,
        nodes=lambda: ((key, {"hops": hops[key]}) for key in cohesion.members),
        edges=lambda: ((a, b, {}) for a, b in around.connections),
    )


def _of_all(graph: Graph, cohesions: CohesionBatch, critical: NDArray[np.int64], further: Attributes) -> Network:
    needed = np.bincount(cohesions.members, minlength=graph.vertex_count).tolist()

    def nodes() -> Iterator[tuple[Key, Attributes]]:
        number = np.full(graph.vertex_count, -1, np.int64)
        number[cohesions.vertices] = np.arange(len(cohesions))
        sizes, densities = cohesions.sizes, cohesions.densities
        for key, count, i in zip(graph.keys.tolist(), needed, number.tolist(), strict=True):
            attributes: Attributes = {"needed": count}
            if i >= 0:
                members = cohesions.members_of(i)
                attributes |= {
                    "size": int(sizes[i]),
                    "edges": int(cohesions.edges[i]),
                    "density": float(densities[i]),
                    "proven": bool(cohesions.proven[i]),
                    "best": bool(cohesions.best[i]),
                    "members": graph.keys[members].tolist(),
                }
            yield key, attributes

    def edges() -> Iterator[tuple[Key, Key, Attributes]]:
        keys = graph.keys
        u, v = edge_ends(graph)
        for start in range(0, len(u), 10_000):  # only a few edges' keys as Python objects at a time
            part = slice(start, start + 10_000)
            for a, b, count in zip(
                keys[u[part]].tolist(), keys[v[part]].tolist(), critical[part].tolist(), strict=True
            ):
                yield a, b, {"critical": count}

    return Network(
        attributes={**further, "p": str(cohesions.p), "search": cohesions.search.name},
        node_count=graph.vertex_count,
        edge_count=graph.edge_count,
        memberships=len(cohesions.members),
        nodes=nodes,
        edges=edges,
    )


def _stored_as(run: RunRecord) -> Attributes:
    return {"run": run.id, "version": run.version}


def critical_counts(graph: Graph, cohesions: CohesionBatch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count, for each edge, the cohesions it lies in, and for each cohesion, the edges that lie in it.

    Returns:
        Two int64 arrays: by edge in the order of `cliques.edge_ends`, shape (m,); by cohesion, shape (b,).
    """
    u, v = edge_ends(graph)
    starts = np.searchsorted(u, np.arange(graph.vertex_count + 1))
    counts, inside = np.zeros(len(u), np.int64), np.zeros(len(cohesions), np.int64)
    member = np.zeros(graph.vertex_count, np.bool_)
    for i in range(len(cohesions)):
        members = cohesions.members_of(i)
        member[members] = True
        edges = _ranges(starts[members], starts[members.astype(np.int64) + 1])
        edges = edges[member[v[edges]]]
        counts[edges] += 1
        inside[i] = len(edges)
        member[members] = False
    return counts, inside


def _ranges(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the integers of all ranges, concatenated."""
    lengths = ends - starts
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
