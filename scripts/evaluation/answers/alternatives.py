"""What a user would take in place of a cohesion: one hop, the community of a vertex in its k-core, Louvain's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import Graph
from pcneo.counting.cliques import edge_ends

Members = NDArray[np.int64]
"""Positions of the members of one set, ascending."""


def as_networkx(graph: Graph) -> nx.Graph[int]:
    """Return a graph whose nodes are positions."""
    made: nx.Graph[int] = nx.Graph()
    made.add_nodes_from(range(graph.vertex_count))
    made.add_edges_from(zip(*(ends.tolist() for ends in edge_ends(graph)), strict=True))
    return made


def _one_hop(graph: Graph, queries: Sequence[int], seed: int) -> list[Members]:
    """Each vertex and its neighbours."""
    rows = (graph.neighbours_of(q) for q in queries)
    return [np.sort(np.append(row.astype(np.int64), q)) for q, row in zip(queries, rows, strict=True)]


def _core(graph: Graph, queries: Sequence[int], seed: int) -> list[Members]:
    """The component of each vertex among all vertices of its core number and more."""
    whole = as_networkx(graph)
    number = nx.core_number(whole)
    components: dict[int, dict[int, Members]] = {}
    for k in {number[q] for q in queries}:
        inside = whole.subgraph([v for v, core in number.items() if core >= k])
        parts = [np.array(sorted(part)) for part in nx.connected_components(inside)]
        components[k] = {int(v): part for part in parts for v in part}
    return [components[number[q]][q] for q in queries]


def _louvain(graph: Graph, queries: Sequence[int], seed: int) -> list[Members]:
    parts = [np.array(sorted(part)) for part in nx.community.louvain_communities(as_networkx(graph), seed=seed)]
    of = {int(v): part for part in parts for v in part}
    return [of[q] for q in queries]


ALTERNATIVES: Mapping[str, Callable[[Graph, Sequence[int], int], list[Members]]] = {
    "one hop": _one_hop,
    "k-core": _core,
    "Louvain": _louvain,
}
"""What gives a set for each queried vertex, from the graph, the positions and a seed, which Louvain alone needs."""
