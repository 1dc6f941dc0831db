"""What `critical` protects, against the obvious twins with sets of tuples (privacy.md, section of that name)."""

from __future__ import annotations

import random
from itertools import combinations

import naive
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from networkx.generators.atlas import graph_atlas_g

from pcneo.cliques import clique_counts, edge_ends
from pcneo.data import copenhagen_friends_path
from pcneo.errors import GraphError, ParameterError
from pcneo.graph import graph_from_edges, graph_from_networkx
from pcneo.model import Graph
from pcneo.protected import (
    Groups,
    LargestSupports,
    Protected,
    common_bounds,
    largest_supports,
    protect,
    protected_size,
)
from pcneo.search import minimal_p_cohesions

SMALL = [graph for graph in graph_atlas_g() if 0 < len(graph) < 7]


def groups_of(sets: list[list[int]]) -> Groups:
    members = np.array([v for group in sets for v in sorted(set(group))], np.uint32)
    return Groups(np.cumsum([0, *(len(set(group)) for group in sets)]), members)


def pairs_of(protected: Protected) -> list[tuple[int, int]]:
    u, v = protected.ends()
    return list(zip(u.tolist(), v.tolist(), strict=True))


def check(graph: nx.Graph, sets: list[list[int]], ks: tuple[int, ...] = (3, 4, 5)) -> None:
    plain, groups = naive.graph_of(graph.edges, isolated=graph), groups_of(sets)
    arrays = graph_from_networkx(graph)
    size, protected = protected_size(arrays, groups, concurrency=1), protect(arrays, groups, concurrency=1)
    pairs = naive.pairs_inside(sets)
    closed = naive.with_pairs(plain, pairs)
    assert pairs_of(protected) == sorted(pairs)
    u, v = edge_ends(protected.graph)
    assert set(zip(u.tolist(), v.tolist(), strict=True)) == {(a, b) for a in closed for b in closed[a] if a < b}
    assert (size.pairs, size.edges) == (len(pairs), protected.graph.edge_count)
    for k in ks:
        exact = largest_supports(protected, k, concurrency=1)
        assert exact.exact
        assert dict(zip(pairs_of(protected), exact.per_pair.tolist(), strict=True)) == naive.sensitivities(
            plain, k, pairs
        )
        assert dict(enumerate(exact.per_vertex.tolist())) == naive.largest_sensitivity(plain, k, pairs)
        bound = largest_supports(protected, k, affordable=-1, concurrency=1)
        assert bound.exact == (k == 3)
        effects, largest = naive.bounded_sensitivity(plain, k, pairs)
        assert dict(zip(pairs_of(protected), bound.per_pair.tolist(), strict=True)) == effects
        assert dict(enumerate(bound.per_vertex.tolist())) == largest


@pytest.mark.parametrize("n", range(1, 7))
def test_all_graphs_up_to_six_vertices_give_what_the_definitions_give(n):
    chance = random.Random(n)
    for graph in SMALL:
        if len(graph) == n:
            sets = [chance.sample(range(n), chance.randint(1, n)) for _ in range(chance.randint(0, 4))]
            check(graph, sets)


def test_all_pairs_or_none_may_be_protected():
    check(nx.path_graph(5), [])
    check(nx.path_graph(5), [[0], [3]])
    check(nx.path_graph(5), [[0, 1, 2, 3, 4]])
    check(nx.empty_graph(4), [[0, 1], [2, 3], [0, 1]])


@st.composite
def cases(draw: st.DrawFn) -> tuple[nx.Graph, list[list[int]]]:
    n = draw(st.integers(2, 9))
    pairs = list(combinations(range(n), 2))
    graph = nx.empty_graph(n)
    graph.add_edges_from(draw(st.lists(st.sampled_from(pairs), unique=True)))
    return graph, draw(st.lists(st.lists(st.integers(0, n - 1), min_size=1, max_size=5), min_size=1, max_size=5))


@settings(deadline=None)
@given(cases(), st.integers(3, 6))
def test_random_graphs_and_groups_give_what_the_definitions_give(case, k):
    check(*case, ks=(k,))


def results(graph: Graph, groups: Groups, k: int) -> tuple[list[object], ...]:
    """Everything that is computed here, exactly and by the bound."""
    protected = protect(graph, groups, concurrency=1)

    def listed(found: LargestSupports) -> list[object]:
        return [found.per_pair.tolist(), found.per_vertex.tolist(), found.exact, found.looked]

    return (
        [protected_size(graph, groups, concurrency=1), protected.pairs.tolist()],
        [protected.graph.offsets.tolist(), protected.graph.neighbours.tolist()],
        listed(largest_supports(protected, k, concurrency=1)),
        listed(largest_supports(protected, k, affordable=-1, concurrency=1)),
    )


@settings(deadline=None)
@given(cases(), st.integers(3, 5))
def test_toggling_any_pair_inside_a_group_changes_nothing(case, k):
    graph, sets = case
    groups = groups_of(sets)
    before = results(graph_from_networkx(graph), groups, k)
    for a, b in naive.pairs_inside(sets):
        toggled = graph.copy()
        toggled.remove_edge(a, b) if toggled.has_edge(a, b) else toggled.add_edge(a, b)
        assert results(graph_from_networkx(toggled), groups, k) == before


# --- A real graph, with its own cohesions


@pytest.fixture(scope="module")
def copenhagen() -> Graph:
    edges = np.loadtxt(copenhagen_friends_path(), np.int64, comments="#")
    return graph_from_edges(np.unique(edges), edges[:, 0], edges[:, 1])


@pytest.mark.parametrize("p", ["0.1", "0.3"])
def test_the_pairs_of_real_cohesions_are_those_of_sets_of_tuples(copenhagen, p):
    batch = minimal_p_cohesions(copenhagen, p)
    protected = protect(copenhagen, batch)
    cuts = zip(batch.offsets[:-1], batch.offsets[1:], strict=True)
    pairs = naive.pairs_inside(batch.members[a:b].tolist() for a, b in cuts)
    assert pairs_of(protected) == sorted(pairs)
    u, v = edge_ends(copenhagen)
    assert protected.graph.edge_count == len(pairs | set(zip(u.tolist(), v.tolist(), strict=True)))


@pytest.mark.parametrize("k", [3, 4, 6])
def test_no_count_changes_by_more_than_its_pair_can_account_for(copenhagen, k):
    """The proof's two inequalities, for some pairs inside groups that are connected."""
    batch = minimal_p_cohesions(copenhagen, "0.1")
    protected = protect(copenhagen, batch)
    largest = largest_supports(protected, k)
    before = clique_counts(copenhagen, k)
    u, v = edge_ends(copenhagen)
    inside = np.flatnonzero(np.isin(u * copenhagen.vertex_count + v, protected.pairs))
    for i in random.Random(k).sample(inside.tolist(), 10):
        keys = copenhagen.keys
        without = graph_from_edges(keys, keys[np.delete(u, i)], keys[np.delete(v, i)])
        change = before - clique_counts(without, k)
        effect = largest.per_pair[np.searchsorted(protected.pairs, u[i] * copenhagen.vertex_count + v[i])]
        assert change.sum() <= effect
        assert (largest.per_vertex[change > 0] >= effect).all()


@pytest.mark.parametrize(("k", "p"), [(4, "0.3"), (5, "0.1")])
def test_the_bound_is_nowhere_below_the_exact_numbers(copenhagen, k, p):
    protected = protect(copenhagen, minimal_p_cohesions(copenhagen, p))
    exact, bound = largest_supports(protected, k), largest_supports(protected, k, affordable=0)
    assert exact.exact
    assert not bound.exact
    assert (bound.per_pair >= exact.per_pair).all()
    assert (bound.per_vertex >= exact.per_vertex).all()


def test_what_is_affordable_is_decided_alike_for_any_number_of_threads(copenhagen):
    protected = protect(copenhagen, minimal_p_cohesions(copenhagen, "0.1"))
    looked = largest_supports(protected, 4, concurrency=1).looked
    for threads in (1, 2, 5):
        assert largest_supports(protected, 4, affordable=looked, concurrency=threads).exact
        assert not largest_supports(protected, 4, affordable=looked - 1, concurrency=threads).exact


# --- Refusals


def test_groups_that_are_not_of_the_graph_are_refused():
    graph = graph_from_networkx(nx.path_graph(3))
    for groups in (
        Groups(np.array([0, 2]), np.array([0, 3], np.uint32)),
        Groups(np.array([0, 2, 1]), np.array([0, 1], np.uint32)),
        Groups(np.array([1, 2]), np.array([0, 1], np.uint32)),
        Groups(np.array([], np.int64), np.array([], np.uint32)),
    ):
        for use in (protect, protected_size):
            with pytest.raises(ParameterError, match="not of this graph"):
                use(graph, groups)


def test_an_effect_that_does_not_fit_64_bits_is_refused_exactly_and_by_the_bound():
    protected = protect(graph_from_networkx(nx.empty_graph(70)), groups_of([list(range(70))]))
    for affordable in (10**9, 0):
        with pytest.raises(GraphError, match="choose a smaller k"):
            largest_supports(protected, 35, affordable=affordable)
    assert largest_supports(protected, 3).per_vertex.tolist() == [3 * 68] * 70


# --- Common neighbours


def most_shared(graph: nx.Graph) -> int:
    return max((len(set(graph[a]) & set(graph[b])) for a, b in combinations(graph, 2)), default=0)


@pytest.mark.parametrize("seed", range(60))
def test_the_bounds_of_common_neighbours_are_those_of_the_pairs_inside_groups_all_gone_and_all_there(seed: int) -> None:
    rng = random.Random(seed)
    graph = nx.gnp_random_graph(rng.randint(1, 30), rng.random() * 0.6, seed=seed)
    sets = [rng.sample(sorted(graph), rng.randint(1, min(9, len(graph)))) for _ in range(rng.randint(0, 4))]
    arrays = graph_from_networkx(graph)
    least, most = common_bounds(arrays, protect(arrays, groups_of(sets)))
    without, closed = graph.copy(), graph.copy()
    without.remove_edges_from(naive.pairs_inside(sets))
    closed.add_edges_from(naive.pairs_inside(sets))
    assert (least, most) == (most_shared(without), most_shared(closed))
    assert least <= most_shared(graph) <= most
