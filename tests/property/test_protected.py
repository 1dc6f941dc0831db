"""What `critical` protects, against the obvious twins with sets of tuples (GUARANTEE.md#critical)."""

from __future__ import annotations

import random
import tracemalloc
from functools import cache
from itertools import combinations, pairwise

import naive
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from networkx.generators.atlas import graph_atlas_g

from pcneo.basics.model import Graph
from pcneo.cli.sample import copenhagen_friends_path
from pcneo.counting.cliques import clique_counts, clique_supports, edge_ends
from pcneo.counting.protected import (
    Groups,
    Protected,
    common_bounds,
    largest_shared,
    largest_supports,
    listed_hull,
    pair_blocks,
    pairs,
    protect,
    protected_memory,
    tiles,
)
from pcneo.errors import GraphError, ParameterError
from pcneo.graph import graph_from_edges, graph_from_networkx
from pcneo.search import minimal_p_cohesions

SMALL = [graph for graph in graph_atlas_g() if 0 < len(graph) < 7]


def groups_of(sets: list[list[int]]) -> Groups:
    members = np.array([v for group in sets for v in sorted(set(group))], np.uint32)
    return Groups(np.cumsum([0, *(len(set(group)) for group in sets)]), members)


def pairs_of(protected: Protected, most: int = 3) -> list[tuple[int, int]]:
    blocks = [list(zip(u.tolist(), v.tolist(), strict=True)) for u, v in pair_blocks(protected, most=most)]
    assert all(len(block) <= most or len({u for u, _ in block}) == 1 for block in blocks)
    return [pair for block in blocks for pair in block]


def edges_of(graph: Graph) -> list[tuple[int, int]]:
    u, v = edge_ends(graph)
    return list(zip(u.tolist(), v.tolist(), strict=True))


def check(graph: nx.Graph, sets: list[list[int]], ks: tuple[int, ...] = (3, 4, 5)) -> None:
    plain, groups = naive.graph_of(graph.edges, isolated=graph), groups_of(sets)
    arrays = graph_from_networkx(graph)
    protected = protect(arrays, groups, concurrency=1)
    pairs = naive.pairs_inside(sets)
    closed = naive.with_pairs(plain, pairs)
    edges = sorted((a, b) for a in closed for b in closed[a] if a < b)
    assert pairs_of(protected) == sorted(pairs)
    assert protected.inside.tolist() == [pair in pairs for pair in edges_of(arrays)]
    assert (protected.pair_count, protected.edge_count) == (len(pairs), len(edges))
    hull, inside = listed_hull(protected, concurrency=1)
    assert edges_of(hull) == edges
    assert inside.tolist() == [pair in pairs for pair in edges]
    for k in ks:
        exact = largest_supports(protected, k, concurrency=1)
        assert exact.exact
        assert dict(enumerate(exact.per_vertex.tolist())) == naive.largest_sensitivity(plain, k, pairs)
        _, largest = naive.bounded_sensitivity(plain, k, pairs)
        for bound in (
            largest_supports(protected, k, affordable=-1, concurrency=1),
            largest_supports(protected, k, listed=-1, concurrency=1),
        ):
            assert bound.exact == (k == 3)
            assert dict(enumerate(bound.per_vertex.tolist())) == largest


@pytest.mark.parametrize("n", [*range(1, 6), pytest.param(6, marks=pytest.mark.long)])
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


def results(graph: Graph, groups: Groups, k: int) -> list[object]:
    """Everything that is computed here, exactly and by the bound."""
    protected = protect(graph, groups, concurrency=1)
    hull, inside = listed_hull(protected, concurrency=1)
    both = [largest_supports(protected, k, affordable=limit, concurrency=1) for limit in (10**9, -1)]
    return [
        pairs_of(protected),
        (edges_of(hull), inside.tolist()),
        [(result.per_vertex.tolist(), result.exact, result.looked) for result in both],
        common_bounds(protected),
    ]


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


@pytest.mark.parametrize("p", ["0.1", pytest.param("0.3", marks=pytest.mark.long)])
def test_the_pairs_of_real_cohesions_are_those_of_sets_of_tuples(copenhagen, p):
    batch = minimal_p_cohesions(copenhagen, p)
    protected = protect(copenhagen, batch)
    cuts = zip(batch.offsets[:-1], batch.offsets[1:], strict=True)
    pairs = naive.pairs_inside(batch.members[a:b].tolist() for a, b in cuts)
    assert pairs_of(protected) == sorted(pairs)
    u, v = edge_ends(copenhagen)
    assert protected.edge_count == len(pairs | set(zip(u.tolist(), v.tolist(), strict=True)))
    if p == "0.1":  # the other takes long
        plain = naive.graph_of(edges_of(copenhagen), isolated=range(800))
        _, largest = naive.bounded_sensitivity(plain, 3, pairs)
        assert largest_supports(protected, 3).per_vertex.tolist() == [largest[v] for v in range(800)]


@pytest.mark.parametrize("k", [3, 4, 6])
def test_no_count_changes_by_more_than_its_pair_can_account_for(copenhagen, k):
    """The proof's two inequalities, for some pairs inside groups that are connected."""
    batch = minimal_p_cohesions(copenhagen, "0.1")
    protected = protect(copenhagen, batch)
    largest = largest_supports(protected, k)
    hull, _ = listed_hull(protected)
    effects = dict(zip(edges_of(hull), (k * clique_supports(hull, k)).tolist(), strict=True))
    before = clique_counts(copenhagen, k)
    u, v = edge_ends(copenhagen)
    for i in random.Random(k).sample(np.flatnonzero(protected.inside).tolist(), 10):
        keys = copenhagen.keys
        without = graph_from_edges(keys, keys[np.delete(u, i)], keys[np.delete(v, i)])
        change = before - clique_counts(without, k)
        effect = effects[int(u[i]), int(v[i])]
        assert change.sum() <= effect
        assert (largest.per_vertex[change > 0] >= effect).all()


@pytest.mark.parametrize(("k", "p"), [(4, "0.3"), (5, "0.1")])
def test_the_bound_is_nowhere_below_the_exact_numbers(copenhagen, k, p):
    protected = protect(copenhagen, minimal_p_cohesions(copenhagen, p))
    exact, bound = largest_supports(protected, k), largest_supports(protected, k, affordable=0)
    assert exact.exact
    assert not bound.exact
    assert (bound.per_vertex >= exact.per_vertex).all()


def test_what_is_affordable_is_decided_alike_for_any_number_of_threads(copenhagen):
    protected = protect(copenhagen, minimal_p_cohesions(copenhagen, "0.1"))
    looked = largest_supports(protected, 4, concurrency=1).looked
    for threads in (1, 2, 5):
        assert largest_supports(protected, 4, affordable=looked, concurrency=threads).exact
        assert not largest_supports(protected, 4, affordable=looked - 1, concurrency=threads).exact


# --- Never all pairs at once


def many_pairs(seed: int, n: int) -> tuple[Graph, Groups]:
    """A sparse graph with groups of up to 60, some vertices being in most of them."""
    rng = random.Random(seed)
    graph = nx.gnm_random_graph(n, 3 * n, seed=seed)
    sets = [rng.sample(range(n), rng.randint(2, min(n, 60))) + rng.sample(range(9), 3) for _ in range(n // 15)]
    return graph_from_networkx(graph), groups_of(sets)


@cache
def shared_by(seed: int, n: int) -> tuple[list[int], int]:
    """For each vertex the most common neighbours of a pair that counts for it, and those of any two vertices."""
    graph, groups = many_pairs(seed, n)
    plain = naive.graph_of(edges_of(graph), isolated=range(n))
    pairs = naive.pairs_inside(groups.members[a:b].tolist() for a, b in pairwise(groups.offsets))
    closed = naive.with_pairs(plain, pairs)
    _, largest = naive.bounded_sensitivity(plain, 3, pairs)
    return [largest[v] // 3 for v in range(n)], max(len(closed[a] & closed[b]) for a, b in combinations(closed, 2))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("size", "n"), [(1, 40), (2_000, 300), (100_000, 300)])
@pytest.mark.parametrize("matrix", [0, 2**20])
def test_scales_and_bounds_are_the_same_however_few_rows_are_kept_at_a_time_and_on_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, seed: int, size: int, n: int, matrix: int
) -> None:
    graph, groups = many_pairs(seed, n)
    largest, most = shared_by(seed, n)
    monkeypatch.setattr(tiles, "TILE", size)
    monkeypatch.setattr(pairs, "MATRIX", matrix)
    for threads in (1, 3):
        protected = protect(graph, groups, concurrency=threads)
        assert (protected.rows.bits.size > 0) == (matrix > 0)
        assert largest_shared(protected, concurrency=threads).tolist() == largest
        assert common_bounds(protected, concurrency=threads)[1] == most
        least, bound = common_bounds(protected, affordable=-1, concurrency=threads)
        assert (least, bound) == (0, min(n - 2, protected.degrees.max()))
        assert bound >= most


@pytest.mark.long
@pytest.mark.parametrize("threads", [1, 4])
def test_the_memory_that_is_needed_is_no_more_than_is_said_and_does_not_grow_with_the_pairs(
    monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    """What numpy allocates outside compiled code; what is inside is one array of offsets and one of columns."""
    monkeypatch.setattr(tiles, "TILE", 10_000)
    graph, _ = many_pairs(1, 2_000)
    for sets in ([list(range(500))], [[v, v + 1] for v in range(0, 500, 2)]):  # 124,750 pairs, and 250
        groups = groups_of(sets)
        largest_shared(protect(graph, groups))  # compiled before
        common_bounds(protect(graph, groups))
        tracemalloc.start()
        protected = protect(graph, groups, concurrency=threads)
        largest_shared(protected, concurrency=threads)
        common_bounds(protected, concurrency=threads)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(groups.members) == 500
        assert peak < protected_memory(graph, groups, concurrency=threads) < 2_000_000


@pytest.mark.parametrize("p", ["0.1", pytest.param("0.5", marks=pytest.mark.long)])
def test_bits_and_groups_find_the_same_pairs(copenhagen: Graph, monkeypatch: pytest.MonkeyPatch, p: str) -> None:
    """Of more vertices than are written to at once, with groups from small to almost all."""
    edges = [ends + 800 * copy for copy in range(4) for ends in edge_ends(copenhagen)]
    graph = graph_from_edges(np.arange(3_200), np.concatenate(edges[::2]), np.concatenate(edges[1::2]))
    batch = minimal_p_cohesions(graph, p)
    ways = []
    for matrix in (0, 2**30):
        monkeypatch.setattr(pairs, "matrix_memory", lambda *_, matrix=matrix: matrix)
        protected = protect(graph, batch)
        assert protected.rows.bits.size == (50 * 3_200 if matrix else 0)
        ways.append((protected, np.concatenate([np.stack(block) for block in pair_blocks(protected)], axis=1)))
    (by_groups, their), (by_bits, ours) = ways
    assert np.array_equal(their, ours)
    for name in ("pairs", "degrees", "inside"):
        assert np.array_equal(getattr(by_groups, name), getattr(by_bits, name))
    assert np.array_equal(largest_shared(by_groups), largest_shared(by_bits))


@pytest.mark.parametrize(("sizes", "n", "bits"), [([2] * 9, 100, False), ([60], 100, True), ([2_000], 70_000, False)])
def test_bits_are_taken_where_groups_are_large_and_memory_is_enough(sizes: list[int], n: int, bits: bool) -> None:
    groups = groups_of([list(range(size)) for size in sizes])
    assert (pairs.matrix_memory(groups, n) > 0) == bits
    graph = graph_from_edges(range(n), [], [])
    assert protect(graph, groups).rows.bits.nbytes == pairs.matrix_memory(groups, n)


# --- Refusals


def test_groups_that_are_not_of_the_graph_are_refused():
    graph = graph_from_networkx(nx.path_graph(3))
    for groups in (
        Groups(np.array([0, 2]), np.array([0, 3], np.uint32)),
        Groups(np.array([0, 2, 1]), np.array([0, 1], np.uint32)),
        Groups(np.array([1, 2]), np.array([0, 1], np.uint32)),
        Groups(np.array([], np.int64), np.array([], np.uint32)),
    ):
        with pytest.raises(ParameterError, match="not of this graph"):
            protect(graph, groups)


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
    least, most = common_bounds(protect(arrays, groups_of(sets)))
    without, closed = graph.copy(), graph.copy()
    without.remove_edges_from(naive.pairs_inside(sets))
    closed.add_edges_from(naive.pairs_inside(sets))
    assert (least, most) == (most_shared(without), most_shared(closed))
    assert least <= most_shared(graph) <= most
