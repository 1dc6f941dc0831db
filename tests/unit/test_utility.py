"""What is said before a spend: which of `critical` and `edge` needs less noise, from P̂, Ĝ and public bounds only."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import naive
import networkx as nx
import numpy as np
import pytest
from outside_graphs import outside_graph

from pcneo.basics.model import CohesionBatch, Graph
from pcneo.cli.sample import copenhagen_friends_path
from pcneo.counting.counted import CountedGraph
from pcneo.counting.protected import Groups, LargestSupports
from pcneo.graph import graph_from_edges, graph_from_networkx
from pcneo.privacy.mechanisms import Critical, Edge, Elv, OneScale, Published, Scaling
from pcneo.privacy.outlook import Utility
from pcneo.search import minimal_p_cohesions


def graph_at(path: Path) -> Graph:
    rows = naive.read_edges(path)
    pairs = [(a, b) for a in rows for b in rows[a] if a < b]
    return graph_from_edges(rows, *zip(*pairs, strict=True))


def utility(graph: Graph, groups: CohesionBatch | Groups, k: int, epsilon: object) -> tuple[Critical, Utility]:
    mechanism, facts = Critical(k, Fraction(str(epsilon))), CountedGraph(graph, groups)
    return mechanism, mechanism.utility(facts, mechanism.scaling(facts))


def advised(graph: Graph, groups: CohesionBatch | Groups, k: int, epsilon: object) -> str:
    mechanism, outlook = utility(graph, groups, k, epsilon)
    return mechanism.describe(outlook)


class MadeUp(CountedGraph):
    """Facts as a test wants them: how large C can be, and whether supports are exact."""

    def __init__(self, k: int, bounds: tuple[int, int], *, exact: bool) -> None:
        super().__init__(graph_from_edges(range(3), [0], [1]))
        self.supports, self.bounds = LargestSupports(k, np.zeros(3, np.int64), exact), bounds

    def largest_supports(self, k: int) -> LargestSupports:
        assert k == self.supports.k
        return self.supports

    def common_bounds(self) -> tuple[int, int]:
        return self.bounds


def test_edge_is_advised_on_celegans_at_p_0_3_where_critical_needs_twice_its_noise() -> None:
    graph = graph_at(outside_graph("celegans_metabolic.edges.gz"))
    groups = minimal_p_cohesions(graph, "0.3")
    mechanism, outlook = utility(graph, groups, 3, 10)
    assert outlook.with_edge is not None
    # What edge really has here, 399, is not to be used; critical has 746.
    assert outlook.with_edge.least < 399 < outlook.with_edge.most
    assert outlook.standard_error == pytest.approx(746, abs=1)
    assert "expected from edge" in mechanism.describe(outlook)
    assert "expected from critical" in advised(graph, minimal_p_cohesions(graph, "0.1"), 3, 10)


def test_the_advice_changes_with_the_size_of_the_groups() -> None:
    graph = graph_at(copenhagen_friends_path())
    for k in (3, 4):
        assert "expected from critical" in advised(graph, minimal_p_cohesions(graph, "0.1"), k, 10)
        assert "expected from edge" in advised(graph, minimal_p_cohesions(graph, "0.5"), k, 10)


def test_toggling_a_pair_inside_a_group_moves_nothing_that_is_said() -> None:
    whole = nx.gnp_random_graph(40, 0.3, seed=1)
    groups = Groups(np.array([0, 6, 12]), np.arange(12, dtype=np.uint32))
    said = set()
    for pair in [(0, 1), (0, 5), (2, 4), (6, 11), (7, 8)]:
        for edges in ([], [pair]):
            graph = nx.Graph(whole)
            graph.remove_edges_from([pair])
            graph.add_edges_from(edges)
            said.add(advised(graph_from_networkx(graph), groups, 3, 1))
    assert len(said) == 1


def test_what_critical_publishes_exactly_is_counted_and_all_of_it_is_marked_as_the_owners() -> None:
    graph = graph_from_edges(range(9), [0, 1, 0, 4], [1, 2, 2, 5])
    groups = Groups(np.array([0, 3]), np.array([0, 1, 2], np.uint32))
    mechanism, outlook = utility(graph, groups, 3, 1)
    text = mechanism.describe(outlook)
    assert outlook.exact_counts == 6
    assert text.startswith("For the owner alone: ")
    assert "6 counts are published exactly" in text
    assert "promise different things" in text


def test_what_the_groups_leave_open_about_edge_is_a_range_only_where_it_has_two_ends() -> None:
    mechanism = Critical(3, Fraction(1))
    scaling = Scaling.of_vertices([Fraction(3)] * 999)
    for bounds, has_two in (((2, 7), True), ((7, 7), False)):
        text = mechanism.describe(mechanism.utility(MadeUp(3, bounds, exact=True), scaling))
        assert ("with edge between" in text, "the middle of what the groups leave open" in text) == (has_two, has_two)
        assert "and with edge " in text


def test_that_scales_are_from_the_bound_is_said() -> None:
    mechanism = Critical(5, Fraction(1))
    for exact in (True, False):
        outlook = mechanism.utility(MadeUp(5, (1, 7), exact=exact), Scaling.of_vertices([Fraction(3)] * 9))
        assert ("scales from the bound 5·C(cn, 3)" in mechanism.describe(outlook)) == (not exact)


@pytest.mark.parametrize(("n", "k", "epsilon"), [(34_546, 60, "0.01"), (34_546, 130, 1), (5, 3, "1e-16")])
def test_where_edge_could_not_be_drawn_critical_still_can(n: int, k: int, epsilon: object) -> None:
    mechanism = Critical(k, Fraction(str(epsilon)))
    scales = [3 / mechanism.epsilon] * 3 + [Fraction(0)] * (n - 3)
    outlook = mechanism.utility(MadeUp(k, (0, min(n - 2, 400)), exact=True), Scaling.of_vertices(scales))
    assert outlook.with_edge is None
    assert "could be too large to be drawn" in mechanism.describe(outlook)


@pytest.mark.parametrize("kind", [Edge, Elv, Published])
def test_both_noise_levels_are_said_of_a_mechanism_with_one(kind: type[OneScale]) -> None:
    mechanism, facts = kind.make(k=3, epsilon=1, n=100), CountedGraph(graph_from_edges(range(100), [0], [1]))
    outlook = mechanism.utility(facts, Scaling.by_noise(100, lambda _: Fraction(1)))
    text = mechanism.describe(outlook)
    least = 3 / (1 - float(mechanism.epsilon_1))
    assert outlook.least_scale == pytest.approx(least)
    assert (outlook.standard_error, outlook.exact_counts, outlook.with_edge) == (None, None, None)
    assert f"at least {least:.4g}" in text
    assert f"expect {outlook.usual_scale:,.4g} or so at best, which is what a graph without connections" in text
    assert "owner" not in text
