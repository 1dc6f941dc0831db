"""What `critical` protects, against the obvious twins with sets of tuples (GUARANTEE.md#critical)."""

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

from pcneo.basics.model import Graph
from pcneo.counting.cliques import edge_ends
from pcneo.counting.protected import (
    Groups,
    Hull,
    Protected,
    listed_hull,
    pair_blocks,
    pairs,
    pairs_in_groups_of_two,
    protect,
)
from pcneo.errors import ParameterError
from pcneo.face.first_steps import sample_path
from pcneo.graph import graph_from_edges, graph_from_networkx
from pcneo.search import search_all

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


def check(graph: nx.Graph, sets: list[list[int]]) -> None:
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
    twos = {tuple(sorted(set(group))) for group in sets if len(set(group)) == 2}
    assert pairs_in_groups_of_two(protected) == len(twos & set(edges_of(arrays)))


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
@given(cases())
def test_random_graphs_and_groups_give_what_the_definitions_give(case):
    check(*case)


def results(graph: Graph, groups: Groups) -> list[object]:
    """Everything that is computed here of P̂ and Ĝ."""
    protected = protect(graph, groups, concurrency=1)
    hull, inside = listed_hull(protected, concurrency=1)
    of_counting = Hull(protected, concurrency=1)
    return [
        pairs_of(protected),
        (edges_of(hull), inside.tolist()),
        [of_counting.untouched(k) for k in (3, 4)],
        (of_counting.in_bits, edges_of(of_counting.outside)),
    ]


@settings(deadline=None)
@given(cases())
def test_toggling_any_pair_inside_a_group_changes_nothing(case):
    graph, sets = case
    groups = groups_of(sets)
    before = results(graph_from_networkx(graph), groups)
    for a, b in naive.pairs_inside(sets):
        toggled = graph.copy()
        toggled.remove_edge(a, b) if toggled.has_edge(a, b) else toggled.add_edge(a, b)
        assert results(graph_from_networkx(toggled), groups) == before


# --- A real graph, with its own cohesions


@pytest.fixture(scope="module")
def copenhagen() -> Graph:
    edges = np.loadtxt(sample_path(), np.int64, comments="#")
    return graph_from_edges(np.unique(edges), edges[:, 0], edges[:, 1])


@pytest.mark.parametrize("p", ["0.1", pytest.param("0.3", marks=pytest.mark.long)])
def test_the_pairs_of_real_cohesions_are_those_of_sets_of_tuples(copenhagen, p):
    batch = search_all(copenhagen, p)
    protected = protect(copenhagen, batch)
    cuts = zip(batch.offsets[:-1], batch.offsets[1:], strict=True)
    pairs = naive.pairs_inside(batch.members[a:b].tolist() for a, b in cuts)
    assert pairs_of(protected) == sorted(pairs)
    u, v = edge_ends(copenhagen)
    assert protected.edge_count == len(pairs | set(zip(u.tolist(), v.tolist(), strict=True)))


@pytest.mark.parametrize("p", ["0.1", pytest.param("0.5", marks=pytest.mark.long)])
def test_bits_and_groups_find_the_same_pairs(copenhagen: Graph, monkeypatch: pytest.MonkeyPatch, p: str) -> None:
    """Of more vertices than are written to at once, with groups from small to almost all."""
    edges = [ends + 800 * copy for copy in range(4) for ends in edge_ends(copenhagen)]
    graph = graph_from_edges(np.arange(3_200), np.concatenate(edges[::2]), np.concatenate(edges[1::2]))
    batch = search_all(graph, p)
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
        with pytest.raises(ParameterError, match="do not belong to this graph"):
            protect(graph, groups)
