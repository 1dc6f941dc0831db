"""Clique counts against the obvious twins, against networkx, and against identities."""

from __future__ import annotations

from itertools import combinations
from math import comb

import naive
import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lengths import examples

from pcneo.basics.model import CohesionBatch
from pcneo.basics.searches import Search
from pcneo.counting.cliques import clique_counts, clique_counts_of_sizes, clique_supports, cliques_inside, edge_ends
from pcneo.counting.common_neighbours import largest_common, largest_common_inside
from pcneo.graph import graph_from_edges, graph_from_networkx
from pcneo.kernels.degeneracy import by_core, by_degree
from pcneo.search import search_all

TWO_TRIANGLES = nx.disjoint_union(nx.complete_graph(3), nx.complete_graph(3))
STAR = nx.star_graph(6)
WITHOUT_EDGES = nx.empty_graph(4)
DENSE = nx.complement(nx.cycle_graph(9))
PARTS = nx.complete_multipartite_graph(2, 3, 2)


@st.composite
def graphs(draw: st.DrawFn, largest: int = 9) -> nx.Graph:
    """Random graphs from no edge to all, with isolated vertices and keys in a random order."""
    n = draw(st.integers(0, largest))
    pairs = list(combinations(range(n), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    graph = nx.empty_graph(n)
    graph.add_edges_from(edges)
    graph = nx.complement(graph) if draw(st.booleans()) else graph
    return nx.relabel_nodes(graph, dict(enumerate(draw(st.permutations(range(n))))))


def plain(graph: nx.Graph) -> naive.Graph:
    return naive.graph_of(graph.edges, isolated=graph)


@st.composite
def batches(draw: st.DrawFn) -> tuple[nx.Graph, CohesionBatch]:
    """A graph and, for each vertex, any set with it, as cohesions are given."""
    graph = draw(graphs().filter(len))
    n = len(graph)
    groups = [sorted({v, *draw(st.lists(st.integers(0, n - 1)))}) for v in range(n)]
    offsets = np.cumsum([0, *map(len, groups)])
    members = np.concatenate(groups).astype(np.uint32)
    edges = np.zeros(n, np.int64)
    nothing = np.zeros(n, np.bool_)
    return graph, CohesionBatch(Search("1/2"), np.arange(n), offsets, members, edges, np.arange(n), nothing, nothing)


def sets_of(batch: CohesionBatch) -> dict[naive.Vertex, set[naive.Vertex]]:
    bounds = zip(batch.offsets[:-1], batch.offsets[1:], strict=True)
    return {int(v): set(batch.members[a:b].tolist()) for v, (a, b) in zip(batch.vertices, bounds, strict=True)}


@settings(deadline=None)
@given(graphs())
@example(nx.Graph([(1, 2), (1, 3), (1, 4), (4, 5), (5, 6), (5, 7)]))  # a tree: by degree, 4 would leave before 1 and 5
def test_no_vertex_has_more_successors_than_its_order_promises(graph):
    arrays = graph_from_networkx(graph)
    of_core, of_degree = (
        int(np.diff(order(arrays.offsets, arrays.neighbours).offsets).max(initial=0)) for order in (by_core, by_degree)
    )
    assert of_core <= max(nx.core_number(graph).values(), default=0)
    assert of_degree**2 <= 2 * graph.number_of_edges()


@settings(deadline=None, max_examples=examples(30))
@given(graphs(largest=7), st.integers(3, 7))
def test_the_twins_cliques_are_those_of_trying_all_subsets(graph, k):
    tried = (set(group) for group in combinations(graph, k))
    cliques = naive.cliques(plain(graph), k)
    assert sorted(map(sorted, cliques)) == sorted(
        sorted(group) for group in tried if all(graph.has_edge(a, b) for a, b in combinations(group, 2))
    )


@settings(deadline=None)
@given(graphs(), st.integers(3, 10))
@example(nx.complete_graph(10), 5)
@example(STAR, 3)
@example(TWO_TRIANGLES, 3)
@example(WITHOUT_EDGES, 3)
@example(DENSE, 4)
@example(PARTS, 3)
def test_counts_are_those_of_trying_all_subsets(graph, k):
    counts = clique_counts(graph_from_networkx(graph), k, concurrency=1)
    assert dict(enumerate(counts.tolist())) == naive.clique_counts(plain(graph), k)


@settings(deadline=None)
@given(graphs(), st.lists(st.integers(3, 10)))
@example(DENSE, [3, 4, 5])
@example(nx.complete_graph(10), [5, 3, 10])
def test_counts_of_several_sizes_are_those_of_each(graph, sizes):
    arrays = graph_from_networkx(graph)
    counts = clique_counts_of_sizes(arrays, sizes, concurrency=1)
    assert counts.keys() == set(sizes)
    for k in sizes:
        assert dict(enumerate(counts[k].tolist())) == naive.clique_counts(plain(graph), k)


@settings(deadline=None)
@given(graphs(), st.integers(3, 10))
@example(nx.complete_graph(10), 5)
@example(STAR, 3)
@example(DENSE, 4)
@example(DENSE, 3)
@example(PARTS, 3)
def test_supports_are_those_of_trying_all_subsets_and_come_in_the_order_of_edge_ends(graph, k):
    arrays = graph_from_networkx(graph)
    u, v = edge_ends(arrays)
    edges = list(zip(u.tolist(), v.tolist(), strict=True))
    assert edges == sorted(tuple(sorted(edge)) for edge in graph.edges)
    expected = [naive.clique_support(plain(graph), k, edge) for edge in edges]
    assert clique_supports(arrays, k, concurrency=1).tolist() == expected


@settings(deadline=None)
@given(batches(), st.integers(3, 6))
def test_counts_inside_a_set_are_those_of_trying_all_subsets(drawn, k):
    graph, batch = drawn
    counted = cliques_inside(graph_from_networkx(graph), batch, k, concurrency=1)
    expected = naive.clique_counts_inside(plain(graph), k, sets_of(batch))
    assert dict(zip(batch.vertices.tolist(), counted.tolist(), strict=True)) == expected


@settings(deadline=None)
@given(batches())
def test_common_neighbours_inside_a_set_are_those_of_the_definition(drawn):
    graph, batch = drawn
    common = largest_common_inside(graph_from_networkx(graph), batch, concurrency=1)
    assert common.tolist() == [naive.largest_common_inside(plain(graph), v, S) for v, S in sets_of(batch).items()]


@settings(deadline=None)
@given(graphs())
@example(STAR)
@example(nx.cycle_graph(4))
def test_common_neighbours_are_those_of_the_definition_for_vertices_adjacent_or_not(graph):
    c, largest = largest_common(graph_from_networkx(graph), concurrency=1)
    assert c.tolist() == [naive.largest_common(plain(graph), v) for v in sorted(graph)]
    assert largest == max(c, default=0)


@settings(deadline=None)
@given(graphs(largest=8), st.integers(3, 5), st.randoms())
def test_removing_an_edge_changes_the_counts_by_k_times_its_support_in_all(graph, k, random):
    arrays = graph_from_networkx(graph)
    u, v = edge_ends(arrays)
    if len(u) == 0:
        return
    i = random.randrange(len(u))
    without = graph.copy()
    without.remove_edge(u[i], v[i])
    change = np.abs(
        clique_counts(arrays, k, concurrency=1) - clique_counts(graph_from_networkx(without), k, concurrency=1)
    )
    assert change.sum() == k * clique_supports(arrays, k, concurrency=1)[i]


def test_a_graph_with_more_than_64_successors_at_a_root_has_the_counts_of_matrix_products():
    graph = nx.disjoint_union(nx.gnp_random_graph(90, 0.93, seed=1), nx.gnp_random_graph(60, 0.1, seed=2))
    graph.add_edges_from((i, 90 + i) for i in range(60))
    arrays = graph_from_networkx(graph)
    adjacent = nx.to_numpy_array(graph, dtype=np.dtype(np.int64))
    u, v = edge_ends(arrays)
    common = adjacent[u] * adjacent[v]
    expected = {3: common.sum(axis=1), 4: ((common @ adjacent) * common).sum(axis=1) // 2}
    for k, supports in expected.items():
        assert clique_supports(arrays, k).tolist() == supports.tolist()
        at_vertices = np.bincount(u, supports, 150) + np.bincount(v, supports, 150)
        assert clique_counts(arrays, k).tolist() == (at_vertices / (k - 1)).tolist()
    triangles = nx.triangles(graph)
    assert isinstance(triangles, dict)
    assert clique_counts(arrays, 3).tolist() == list(triangles.values())


@pytest.mark.parametrize("k", range(3, 9))
def test_cliques_of_every_size_are_those_that_networkx_enumerates(k):
    graph = nx.random_geometric_graph(60, 0.3, seed=5)
    expected = np.zeros(60, np.int64)
    for clique in nx.enumerate_all_cliques(graph):
        if len(clique) == k:
            expected[clique] += 1
    assert expected.any()
    arrays = graph_from_networkx(graph)
    assert clique_counts(arrays, k).tolist() == expected.tolist()
    everywhere = search_all(arrays, "0.99")
    inside = cliques_inside(arrays, everywhere, k)
    whole = everywhere.sizes == len(nx.node_connected_component(graph, 0))
    assert (inside <= expected).all()
    assert (inside[whole] == expected[whole]).all()
    assert whole.any()


@pytest.mark.long
@pytest.mark.parametrize("parts", [16, 20, 32, 33])
def test_at_63_successors_and_more_counts_are_those_of_choosing_a_part_for_each_vertex(parts):
    """Of parts of two, every two vertices of different parts adjacent, a k-clique has one vertex each of k parts."""
    arrays = graph_from_networkx(nx.complete_multipartite_graph(*[2] * parts))
    counts = clique_counts_of_sizes(arrays, [3, 4, 5, 6, 9])
    for k, counted in counts.items():
        assert set(counted.tolist()) == {comb(parts - 1, k - 1) * 2 ** (k - 1)}
        assert set(clique_supports(arrays, k).tolist()) == {comb(parts - 2, k - 2) * 2 ** (k - 2)}


@pytest.mark.parametrize("k", [3, 4, 5, 6])
def test_a_hub_of_more_than_65536_neighbours_is_counted(k):
    """A hub adjacent to 70,000 vertices, of which every five in a row are adjacent to each other, too."""
    leaves = np.arange(1, 70_001).reshape(-1, 5)
    a, b = np.array(list(combinations(range(5), 2))).T
    sources = np.concatenate((np.zeros(70_000, np.int64), leaves[:, a].ravel()))
    targets = np.concatenate((leaves.ravel(), leaves[:, b].ravel()))
    graph = graph_from_edges(np.arange(70_001), sources, targets)
    counts = clique_counts(graph, k)
    assert counts[0] == 14_000 * comb(5, k - 1)
    assert set(counts[1:].tolist()) == {comb(5, k - 1)}
    supports = clique_supports(graph, k)
    assert set(supports.tolist()) == {comb(4, k - 2)}


@pytest.fixture(scope="module")
def searched():
    graph = graph_from_networkx(nx.powerlaw_cluster_graph(300, 8, 0.7, seed=3))
    return graph, search_all(graph, "0.3")


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_number_of_threads_changes_nothing(threads, searched):
    graph, batch = searched
    for k in (3, 4):
        assert (clique_counts(graph, k, concurrency=threads) == clique_counts(graph, k, concurrency=3)).all()
        assert (clique_supports(graph, k, concurrency=threads) == clique_supports(graph, k, concurrency=3)).all()
        inside = cliques_inside(graph, batch, k, concurrency=threads)
        assert (inside == cliques_inside(graph, batch, k, concurrency=3)).all()
    assert (largest_common(graph, concurrency=threads)[0] == largest_common(graph, concurrency=3)[0]).all()
