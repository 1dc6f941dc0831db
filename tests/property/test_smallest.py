"""The search `smallest`: small sets against brute force, the procedure against its twin, the rank as a total order."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from types import SimpleNamespace
from typing import Any

import naive
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import examples, usual_or_thorough
from numba import njit
from shapes import FRACTIONS, arrays, graphs

from pcneo.basics.searches import Search
from pcneo.graph import as_graph, graph_from_edges
from pcneo.kernels import smallest
from pcneo.search import search_all, search_batches, search_one
from pcneo.search.cohesion import Searched

SHARES = ["1/10", "3/10", "1/2", "2/3"]


def best_of_all(graph: naive.Graph, p: Fraction) -> dict[Any, set[Any]]:
    """By vertex the p-cohesion of the best rank, by trying all vertex sets."""
    best: dict[Any, set[Any]] = {}
    for size in range(1, len(graph) + 1):
        for group in map(set, combinations(sorted(graph), size)):
            beaten = [v for v in group if v not in best or len(best[v]) == size]
            if beaten and naive.is_p_cohesion(graph, p, group):
                for v in beaten:
                    best[v] = min(best.get(v, group), group, key=lambda s: naive.rank(graph, s))
    return best


def numbered(edges: Any, n: int, rng: random.Random) -> naive.Graph:
    names = rng.sample(range(-1_000, 1_000), n)
    return naive.graph_of(((names[a], names[b]) for a, b in edges), names)


# --- The rank


@settings(max_examples=examples(100))
@given(graph=graphs(), p=FRACTIONS, data=st.data())
def test_the_kernel_orders_two_sets_as_the_rank_does(graph: naive.Graph, p: Fraction, data: st.DataObject) -> None:
    rows = Searched.of(arrays(graph), p).rows
    sets = st.lists(st.sampled_from(sorted(graph)), min_size=1, unique=True)
    a, b = data.draw(sets), data.draw(sets)
    first, other = np.array(a, np.uint32), np.array(b, np.uint32)
    counts = np.zeros(len(graph), np.int64)
    edges, value = naive.edges_inside(graph, set(a)), np.array([naive.edges_inside(graph, set(b)), -1])
    better = outranks(rows, first, edges, other, value, counts)
    assert better == (naive.rank(graph, set(a)) < naive.rank(graph, set(b)))
    assert not counts.any()
    assert value[0] == naive.edges_inside(graph, set(a if better else b))


@njit
def outranks(rows, members, edges, others, value, counts):  # for the kernel's own functions have no door to Python
    return smallest._outranks(rows, members, edges, others, value, counts)


@njit
def closeness(rows, members, counts):
    return smallest._closeness(rows, members, counts)


def test_the_rank_is_a_total_order() -> None:
    """Of all sets of at most four vertices of a graph: every two differ, and it does not turn back."""
    graph = naive.graph_of(nx.gnp_random_graph(7, 0.5, seed=4).edges)
    sets = [set(group) for size in range(1, 5) for group in combinations(sorted(graph), size)]
    ranks = sorted(naive.rank(graph, group) for group in sets)
    assert all(a < b for a, b in pairwise(ranks))


# --- Small sets


def test_small_sets_are_those_of_brute_force_on_all_graphs_of_six_vertices() -> None:
    """Every shape of five or six vertices, of six or seven under `--thorough`, under random numbers."""
    rng, count = random.Random(3), 0
    for graph in nx.graph_atlas_g():
        if graph.number_of_nodes() in usual_or_thorough((5, 6), (6, 7)):
            named = numbered(graph.edges, graph.number_of_nodes(), rng)
            for p in map(Fraction, SHARES):
                best = best_of_all(named, p)
                for c in search_all(arrays(named), p, "smallest", check=True, concurrency=1).cohesions():
                    assert (set(c.members), c.proven, c.best) == (best[c.vertex], True, True)
                    count += 1
    assert count > 3_000


@pytest.mark.parametrize("seed", range(usual_or_thorough(4, 40)))
def test_small_sets_are_those_of_brute_force_on_random_graphs_of_twelve_vertices(seed: int) -> None:
    rng = random.Random(seed)
    named = numbered(nx.gnm_random_graph(12, rng.randint(12, 40), seed=seed).edges, 12, rng)
    p = Fraction(rng.choice(SHARES))
    best_of = best_of_all(named, p)
    for c in search_all(arrays(named), p, "smallest", check=True).cohesions():
        best = best_of[c.vertex]
        if c.best:
            assert set(c.members) == best
        if c.proven:
            assert c.size == len(best)
        assert c.size >= len(best)
        assert len(best) > 8 or c.proven


# --- The procedure


def compare(graph: naive.Graph, p: Fraction, effort: int = 1) -> None:
    found = search_batches(arrays(graph), Search(p, "smallest", effort), concurrency=1, check=True)
    for c in (c for batch in found for c in batch.cohesions()):
        assert (set(c.members), c.proven, c.best) == naive.smallest_p_cohesion(graph, p, c.vertex, effort)


@settings(max_examples=examples(20))
@given(graph=graphs(), p=FRACTIONS)
def test_every_answer_is_the_twins(graph: naive.Graph, p: Fraction) -> None:
    compare(graph, p)


CASES = list(product([18, 30], [2, 5], ["3/10", "1/2"], [1, 2]))


@pytest.mark.parametrize(
    ("n", "degree", "p", "effort"),
    [pytest.param(*case, marks=[] if i % 5 == 2 else pytest.mark.long) for i, case in enumerate(CASES)],
)
def test_where_sets_are_larger_every_answer_is_the_twins(n: int, degree: int, p: str, effort: int) -> None:
    rng = random.Random(n * degree)
    compare(numbered(nx.gnm_random_graph(n, n * degree, seed=n).edges, n, rng), Fraction(p), effort)


@pytest.mark.long
@pytest.mark.parametrize("limit", ["_LISTING_READS", "_BESIDE"])
def test_the_twin_counts_what_the_kernel_counts(limit: str) -> None:
    """A graph on which the listing stops early, and on which more vertices are beside a set than may join."""
    graph = numbered(nx.barabasi_albert_graph(220, 6, seed=2).edges, 220, random.Random(1))
    p = Fraction("3/10") if limit == "_BESIDE" else Fraction("1/5")
    hubs = sorted(graph, key=lambda v: len(graph[v]))[-2:]
    built = arrays(graph)
    vertices = [int(np.searchsorted(built.keys, hub)) for hub in hubs]
    for c in search_all(built, p, "smallest", vertices=vertices).cohesions():
        assert (set(c.members), c.proven, c.best) == naive.smallest_p_cohesion(graph, p, c.vertex)


@pytest.mark.parametrize(
    ("graph", "p", "size", "edges"),
    [
        (nx.star_graph(40), "1/2", 21, 20),
        (nx.complete_graph(30), "1/2", 16, 120),
        (nx.complete_graph(5), "1/10", 2, 1),
        (nx.path_graph(50), "9/10", 50, 49),
        (nx.empty_graph(3), "1/2", 1, 0),
    ],
    ids=["star", "complete", "small", "path", "isolated"],
)
def test_plain_shapes_have_the_sets_that_one_sees(graph: nx.Graph[Any], p: str, size: int, edges: int) -> None:
    batch = search_all(as_graph(graph), p, "smallest", vertices=[0], check=True)
    assert (batch.sizes.tolist(), batch.edges.tolist(), batch.proven.tolist()) == ([size], [edges], [True])


def test_a_leaf_of_a_star_of_200_000_takes_no_seconds() -> None:
    """Its hub's row must not be looked through at each of its leaves."""
    leaves = 200_000
    star = graph_from_edges(range(leaves + 1), [0] * leaves, range(1, leaves + 1))
    assert search_all(star, "3/10", vertices=[0, 5]).sizes.tolist() == [60_001] * 2
    begun = time.process_time()  # now that all is compiled
    search_all(star, "3/10", vertices=[5], concurrency=1)
    assert time.process_time() - begun < 2


@pytest.mark.long
def test_what_ties_but_has_no_rank_yet_is_fetched_and_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text keys have ranks once they are fetched; until then each has rank 0, as the smallest of the fetched ones."""
    monkeypatch.setattr(smallest, "_gain", smallest._gain.py_func)  # what is compiled for kernels alone takes no call
    rows = SimpleNamespace(ranks=np.zeros(2, np.int64))
    memory = SimpleNamespace(missing=np.array([1]), counts=np.ones(2, np.int64), flags=np.array([0, smallest._UNKNOWN]))
    best = smallest._gain(memory.counts[0], 0)
    assert smallest._that_may_gain.py_func(rows, best, 0, 0, 1, memory) == 1
    assert smallest._that_may_gain.py_func(rows, best + 1, 0, 0, 1, memory) == 0


def test_where_sets_are_the_component_of_200_000_one_is_found_and_a_search_of_all_is_interrupted() -> None:
    n = 200_000
    rng = np.random.default_rng(1)
    chords = [pair for pair in zip(range(n), rng.integers(0, n, n).tolist(), strict=True) if pair[0] != pair[1]]
    ring = [(v, (v + 1) % n) for v in range(n)]
    graph = graph_from_edges(range(n), *zip(*{tuple(sorted(pair)) for pair in ring + chords}, strict=True))
    batch = search_all(graph, "99/100", vertices=[7], concurrency=1)
    assert (batch.sizes.tolist(), batch.proven.tolist(), batch.best.tolist()) == ([n], [True], [True])
    begun = time.monotonic()
    threading.Timer(2, os.kill, [os.getpid(), signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        list(search_batches(graph, Search("99/100")))
    assert time.monotonic() - begun < 4


def test_valjean_is_among_those_who_matter() -> None:
    found = {c.vertex: c for c in search_all(as_graph(nx.les_miserables_graph()), "0.3", "smallest").cohesions()}
    assert {"Cosette", "Javert", "Thenardier"} < set(found["Valjean"].members)
    assert (found["Valjean"].size, found["Valjean"].edges, found["Valjean"].proven) == (12, 43, True)
    assert (found["Cosette"].size, found["Cosette"].edges, found["Cosette"].best) == (5, 7, True)
    assert (found["Javert"].size, found["Javert"].edges, found["Javert"].best) == (7, 20, True)
    assert (found["Marius"].size, found["Marius"].edges, found["Marius"].best) == (7, 21, True)


def test_more_effort_finds_smaller_sets() -> None:
    """Not for every vertex: what is swapped last can get smaller still, whatever it began with."""
    graph = numbered(nx.gnm_random_graph(80, 400, seed=7).edges, 80, random.Random(2))
    built = arrays(graph)
    one, four = (
        [c for batch in search_batches(built, Search("0.3", "smallest", effort)) for c in batch.cohesions()]
        for effort in (1, 4)
    )
    sizes = [(a.size, b.size) for a, b in zip(one, four, strict=True)]
    assert sum(b < a for a, b in sizes) > 10 > 5 > sum(b > a for a, b in sizes)


def test_one_vertex_asked_for_has_the_answer_of_the_whole_graph() -> None:
    graph = nx.powerlaw_cluster_graph(150, 6, 0.4, seed=3)
    for c in list(search_all(as_graph(graph), "0.3", "smallest").cohesions())[::10]:
        assert search_one(graph, c.vertex, "0.3", "smallest") == c


def test_an_order_of_the_vertices_of_a_set_does_not_change_its_closeness() -> None:
    graph = naive.graph_of(nx.gnp_random_graph(6, 0.7, seed=1).edges)
    rows, counts = Searched.of(arrays(graph), Fraction("1/2")).rows, np.zeros(6, np.int64)
    for order in permutations([0, 2, 3, 5]):
        assert closeness(rows, np.array(order, np.uint32), counts) == naive.closeness(graph, set(order))
