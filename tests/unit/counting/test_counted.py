"""A graph being counted: each number once, shared if it depends only on the graph, and refused if it needs groups."""

from __future__ import annotations

import naive
import networkx as nx
import numpy as np
import pytest

from pcneo.counting import counted
from pcneo.counting.counted import CountedGraph
from pcneo.counting.protected import Groups
from pcneo.errors import GraphError
from pcneo.graph import graph_from_networkx
from pcneo.privacy.facts import Facts
from pcneo.privacy.mechanisms import Elv, Published
from pcneo.search import search_all

GRAPH = nx.connected_caveman_graph(3, 5)


def test_numbers_are_those_of_the_definition_and_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, twin = graph_from_networkx(GRAPH), dict(sorted(naive.graph_of(GRAPH.edges).items()))
    batch = search_all(graph, "0.6")
    cohesions = {v: naive.minimal_p_cohesion(twin, batch.p, v) for v in twin}
    facts = CountedGraph(graph).with_groups(batch, "run x")
    for _ in range(2):
        for k in (3, 4):
            assert facts.counts(k).tolist() == [naive.clique_counts(twin, k)[v] for v in twin]
        assert facts.largest_common() == max(facts.common()) == max(naive.largest_common(twin, v) for v in twin)
        assert facts.inner_degrees().tolist() == [len(twin[v] & cohesions[v]) for v in twin]
        inner = [naive.largest_common_inside(twin, v, cohesions[v]) for v in twin]
        assert facts.inner_common().tolist() == inner
        inside = naive.pairs_inside(cohesions.values())
        assert facts.protected_graph().connected.tolist() == [b in twin[a] for a, b in sorted(inside)]
        for name in ("cliques", "common_neighbours", "protect", "Hull"):
            monkeypatch.setattr(counted, name, None)  # the second time round, nothing is left to compute


def test_what_is_of_the_graph_alone_is_shared_by_all_groups() -> None:
    graph = graph_from_networkx(GRAPH)
    facts = CountedGraph(graph)
    first, second = (facts.with_groups(search_all(graph, p), p) for p in ("0.3", "0.7"))
    first.count([3, 5])
    assert second.counts(3) is first.counts(3) is facts.counts(3)
    assert second.common() is first.common()
    assert first.protected() is not second.protected()
    assert first.protected().pair_count != second.protected().pair_count


def test_without_groups_and_without_cohesions_the_reason_is_said() -> None:
    graph = graph_from_networkx(GRAPH)
    facts: Facts = CountedGraph(graph)
    for ask in (facts.inner_degrees, facts.inner_common, facts.protected_graph):
        with pytest.raises(GraphError, match="no groups"):
            ask()
    grouped = CountedGraph(graph, Groups(np.array([0, 2]), np.arange(2, dtype=np.uint32)))
    assert grouped.protected().pair_count == 1
    with pytest.raises(GraphError, match="no cohesions of single vertices"):
        grouped.inner_common()


def test_elv_looks_at_whole_views_and_published_at_cohesions() -> None:
    graph = graph_from_networkx(GRAPH)
    facts = CountedGraph(graph, search_all(graph, "0.6"))
    views = [kind(epsilon=1, n=15).view(facts) for kind in (Elv, Published)]
    assert [[part.tolist() for part in view] for view in views] == [
        [facts.degrees().tolist(), facts.common().tolist()],
        [facts.inner_degrees().tolist(), facts.inner_common().tolist()],
    ]
    assert views[0][0].tolist() != views[1][0].tolist()
