"""What is reported before a spend: from public bounds, or from P̂ and the connections outside it alone."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from pcneo.basics.model import Graph
from pcneo.counting.counted import CountedGraph
from pcneo.counting.protected import Groups
from pcneo.graph import graph_from_edges, graph_from_networkx
from pcneo.privacy.mechanisms import Critical, Edge, Elv, OneScale, Published


def told(graph: Graph, groups: Groups, k: int = 3) -> str:
    mechanism, facts = Critical(k=k, epsilon=1, n=graph.vertex_count), CountedGraph(graph, groups)
    return mechanism.describe(mechanism.utility(facts))


def test_toggling_a_pair_inside_a_group_moves_nothing_that_is_said() -> None:
    whole = nx.gnp_random_graph(40, 0.3, seed=1)
    groups = Groups(np.array([0, 6, 12]), np.arange(12, dtype=np.uint32))
    said = set()
    for pair in [(0, 1), (0, 5), (2, 4), (6, 11), (7, 8)]:
        for edges in ([], [pair]):
            graph = nx.Graph(whole)
            graph.remove_edges_from([pair])
            graph.add_edges_from(edges)
            said.add(told(graph_from_networkx(graph), groups))
    assert len(said) == 1
    (text,) = said
    assert text.startswith("For the owner alone: critical, k=3, ε=1: the standard error of a count of triangles")


def test_for_four_cliques_the_errors_of_triangles_are_said() -> None:
    graph = graph_from_networkx(nx.complete_graph(6))
    text = told(graph, Groups(np.array([0, 3]), np.arange(3, dtype=np.uint32)), 4)
    assert "k=4, ε=1: the standard error of a count of triangles is between" in text


@pytest.mark.parametrize("kind", [Edge, Elv, Published])
def test_the_least_scale_is_said_of_a_mechanism_with_one(kind: type[OneScale]) -> None:
    mechanism, facts = kind(k=3, epsilon=1, n=100), CountedGraph(graph_from_edges(range(100), [0], [1]))
    outlook = mechanism.utility(facts)
    text = mechanism.describe(outlook)
    least = 3 / (1 - float(mechanism.epsilon_1))
    assert outlook.least_scale == pytest.approx(least)
    assert (outlook.least_error, outlook.most_error) == (None, None)
    assert f"at least {least:.4g}" in text
    assert "owner" not in text
