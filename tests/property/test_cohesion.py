"""The search against its twin, vertex by vertex: random graphs of awkward shapes, the shipped graph, a larger one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from fractions import Fraction

import naive
import networkx as nx
import numpy as np
import pytest
import recorded
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import examples
from outside_graphs import outside_graph
from shapes import FRACTIONS, arrays, graphs, search_streamed

from pcneo.basics.model import FoundCohesion, Graph, Key
from pcneo.basics.searches import SEARCHES, Search
from pcneo.face.first_steps import sample_path
from pcneo.graph import graph_from_rows
from pcneo.kernels import cohesion
from pcneo.kernels.cohesion import DEGREE, DENSITY, NARROW
from pcneo.search import search_all
from pcneo.search.cohesion import Searched

SCORES = {"density": DENSITY, "degree": DEGREE}
assert set(SCORES) == set(naive.SCORES), "each score has a twin, and is compared with it"
random_graphs = settings(max_examples=examples(150))


def as_sets(cohesions: Iterable[FoundCohesion]) -> dict[Key, set[Key]]:
    return {c.vertex: set(c.members) for c in cohesions}


def twins(graph: naive.Graph, p: Fraction, score: str) -> dict[Key, set[Key]]:
    return {q: naive.minimal_p_cohesion(graph, p, q, score) for q in graph}


def answers(graph: naive.Graph, p: Fraction, score: str) -> dict[Key, set[Key]]:
    built = arrays(graph)
    return as_sets(search_all(built, p, score, concurrency=1).cohesions())


def join_order(graph: Graph, p: Fraction, q: int, score: str, count: int = 0) -> list[int]:
    work = cohesion.workspace(graph.vertex_count, max(count, int(graph.degrees.max(initial=0))))
    joined, unknown = cohesion.expand(Searched.of(graph, p).rows, SCORES[score], q, work)
    assert unknown == 0
    return work.order[:joined].tolist()


@pytest.mark.parametrize(
    "count",
    [
        pytest.param(0, id="16 bits"),
        pytest.param(NARROW, id="32 bits", marks=pytest.mark.thorough),  # its compilation takes six seconds
    ],
)
@pytest.mark.parametrize("score", SCORES)
@random_graphs
@given(graph=graphs(), p=FRACTIONS)
def test_vertices_join_in_the_twins_order(score: str, count: int, graph: naive.Graph, p: Fraction) -> None:
    built = arrays(graph)
    for q in range(len(graph)):
        assert join_order(built, p, q, score, count) == naive.expand(graph, p, q, score)


@pytest.mark.parametrize("p", ["0.5", *(pytest.param(p, marks=pytest.mark.long) for p in ("0.3", "0.7"))])
@pytest.mark.parametrize(
    "edges",
    [nx.powerlaw_cluster_graph(150, 8, 0.5, seed=1).edges, nx.gnp_random_graph(80, 0.25, seed=2).edges],
    ids=["clustered", "random"],
)
def test_vertices_join_in_the_twins_order_where_most_candidates_lose_by_a_bound(
    edges: list[naive.Edge], p: str
) -> None:
    graph = naive.graph_of(edges)
    built = arrays(graph)
    for q in range(len(graph)):
        assert join_order(built, Fraction(p), q, "density") == naive.expand(graph, Fraction(p), q, "density")


@pytest.mark.parametrize("score", SCORES)
@random_graphs
@given(graph=graphs(), p=FRACTIONS)
def test_every_cohesion_is_the_twins(score: str, graph: naive.Graph, p: Fraction) -> None:
    assert answers(graph, p, score) == twins(graph, p, score)


@pytest.mark.parametrize("score", SEARCHES)
@random_graphs
@given(graph=graphs(), p=FRACTIONS)
def test_every_cohesion_is_minimal_by_the_twins_check_and_by_our_own(
    score: str, graph: naive.Graph, p: Fraction
) -> None:
    built = arrays(graph)
    for c in search_all(built, p, score, concurrency=1, check=True).cohesions():
        assert naive.is_minimal_p_cohesion(graph, p, c.vertex, set(c.members))
        assert c.edges == sum(len(graph[v] & set(c.members)) for v in c.members) / 2


@pytest.mark.parametrize("score", SEARCHES)
@settings(max_examples=examples(50))
@given(numbered=graphs(), p=FRACTIONS, name=st.sampled_from((int, "{:03}".format)), data=st.data())
def test_a_stream_gives_what_the_batch_gives(
    score: str, numbered: naive.Graph, p: Fraction, name: Callable[[int], Key], data: st.DataObject
) -> None:
    """Integer keys rank as themselves; text is ranked anew as it is fetched."""
    graph = {name(v): {name(w) for w in numbered[v]} for v in numbered}

    def fetch(keys: list[Key]) -> list[tuple[Key, list[Key]]]:
        return [(key, data.draw(st.permutations(sorted(graph[key])))) for key in reversed(keys)]

    built = arrays(graph)
    batch = list(search_all(built, p, score, concurrency=1).cohesions())
    assert list(search_streamed(fetch, sorted(graph), Search(p, score))) == batch
    assert [next(search_streamed(fetch, [q], Search(p, score))) for q in sorted(graph)] == batch


@pytest.mark.parametrize("score", SEARCHES)
@random_graphs
@given(graph=graphs(), p=FRACTIONS)
def test_keys_of_other_kinds_but_the_same_order_change_nothing(score: str, graph: naive.Graph, p: Fraction) -> None:
    expected = answers(graph, p, score)
    for name in (lambda v: f"{v:03}", lambda v: 3 * v - 2**62, lambda v: chr(0xFFF0 + 2 * v)):
        renamed = {name(v): {name(w) for w in graph[v]} for v in graph}
        assert answers(renamed, p, score) == {name(v): {name(w) for w in expected[v]} for v in graph}


@random_graphs
@given(graph=graphs(), p=FRACTIONS)
def test_strings_of_digits_are_ordered_as_strings(graph: naive.Graph, p: Fraction) -> None:
    renamed: naive.Graph = {str(v): {str(w) for w in graph[v]} for v in graph}
    assert answers(renamed, p, "density") == twins(renamed, p, "density")


@random_graphs
@given(graph=graphs(), p=FRACTIONS)
def test_the_twins_check_is_that_of_the_definition(graph: naive.Graph, p: Fraction) -> None:
    """In a small graph: a set passes exactly if no proper subset that still holds q is a p-cohesion."""
    q, cohesion_of_q = next((q, S) for q, S in answers(graph, p, "density").items())
    if len(cohesion_of_q) <= 9:
        inner = naive.graph_of(((a, b) for a in cohesion_of_q for b in graph[a] & cohesion_of_q), isolated=[q])
        others = sorted(cohesion_of_q - {q})
        subsets = ({q, *(v for i, v in enumerate(others) if mask >> i & 1)} for mask in range(2 ** len(others) - 1))
        needs = {v: naive.need(graph, p, v) for v in inner}
        assert not any(naive.is_connected(inner, S) and all(len(inner[v] & S) >= needs[v] for v in S) for S in subsets)


# --- What spares the kernel work


@pytest.mark.parametrize("bits", [16, 32])
@random_graphs
@given(data=st.data())
def test_what_is_above_a_level_bounds_the_sum_of_the_largest_and_gives_it_at_the_smallest_of_them(
    bits: int, data: st.DataObject
) -> None:
    away = 2 ** (bits - 2)
    count = st.one_of(st.integers(0, 12), st.sampled_from([away - 2, away - 1]))
    outside = data.draw(st.lists(count, min_size=1, max_size=50))
    members = data.draw(st.lists(count, max_size=20))
    largest = sorted(outside)[-data.draw(st.integers(1, len(outside))) :]
    row = np.array([*outside, *(inside - away for inside in members)], f"i{bits // 8}")
    totals = np.zeros(0, f"u{bits // 4}")
    for t in {0, data.draw(st.integers(0, max(outside))), *largest}:
        excess, reached = cohesion._above(row, np.uint64(len(row)), t, totals)
        assert len(largest) * t + excess >= sum(largest)
        assert reached == sum(inside >= t for inside in outside)
    excess, _ = cohesion._above(row, np.uint64(len(row)), largest[0], totals)
    assert len(largest) * largest[0] + excess == sum(largest)


@random_graphs
@given(data=st.data())
def test_the_heap_keeps_the_best_ties_by_rank_and_has_the_worst_of_them_on_top(data: st.DataObject) -> None:
    entries = data.draw(
        st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 30)), min_size=1, unique_by=lambda e: e[1])
    )
    most = data.draw(st.integers(1, len(entries)))
    ranks = np.arange(31)[::-1].copy()
    scores, kept, size = np.zeros(most), np.zeros(most, np.uint32), 0
    for score, vertex in entries:
        size = cohesion._keep(ranks, scores, kept, size, most, float(score), np.uint32(vertex))
    best = sorted(entries, key=lambda e: (-e[0], -e[1]))[:most]
    assert (size, scores[0], kept[0]) == (most, *best[-1])
    assert sorted(zip(scores.tolist(), kept.tolist(), strict=True)) == sorted(best)


@pytest.mark.parametrize("score", SCORES)
@random_graphs
@given(graph=graphs(), p=FRACTIONS, data=st.data())
def test_a_search_that_lacks_rows_goes_on_in_larger_memory_and_leaves_it_as_it_was(
    score: str, graph: naive.Graph, p: Fraction, data: st.DataObject
) -> None:
    rows = Searched.of(arrays(graph), p).rows
    n, most = len(graph), len(rows.needs) - 1
    q, places = np.array([data.draw(st.integers(0, n - 1))]), np.full(n, -1)
    places[q] = rows.places[q]
    work, room, size = cohesion.workspace(n, most), n, most
    while True:
        _, members, missing = cohesion.minimal_cohesions(rows._replace(places=places), SCORES[score], q, work)
        if not len(missing):
            break
        assert (places[missing] < 0).all()
        places[missing] = rows.places[missing]
        room, size = room + 1, max(size, data.draw(st.sampled_from([most, most + 9, 2**14])))
        work = cohesion.enlarged(work, room, size)
    _, undisturbed, _ = cohesion.minimal_cohesions(rows, SCORES[score], q, cohesion.workspace(n, most))
    assert members.tolist() == undisturbed.tolist()
    assert not any(array.any() for array in (work.inside, work.helped, work.sums, work.marks, work.reached))


@pytest.mark.long
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("leaves", [2**14 - 1, 2**14])
def test_the_largest_counts_of_16_bits_and_the_smallest_of_32_give_the_same_answers(leaves: int, score: str) -> None:
    """Three hubs, each adjacent to all vertices of a ring; nearly all of them join."""
    ring_of = {v: [0, 1, 2, 3 + (v - 2) % leaves, 3 + (v - 4) % leaves] for v in range(3, 3 + leaves)}
    graph = graph_from_rows([*((hub, list(ring_of)) for hub in range(3)), *ring_of.items()])
    rows = Searched.of(graph, Fraction("0.99")).rows
    answered = []
    for count in (leaves, 2**16):
        work = cohesion.workspace(graph.vertex_count, count)
        answered.append(cohesion.minimal_cohesions(rows, SCORES[score], np.array([0, 2, 9]), work))
    (ends, members, _), (wide_ends, wide_members, _) = answered
    assert (ends.tolist(), members.tolist()) == (wide_ends.tolist(), wide_members.tolist())
    assert ends[0] > leaves


# --- Real graphs


@pytest.mark.parametrize("score", recorded.SEARCHES)
@pytest.mark.parametrize(("name", "p"), recorded.CASES)
def test_every_vertex_has_the_cohesion_that_the_twin_found(name: str, p: str, score: str) -> None:
    built = arrays(recorded.graph(name))
    vertices = np.searchsorted(built.keys, recorded.vertices(name, score)).tolist()
    checked = search_all(built, p, score, vertices=vertices, check=True).cohesions()
    assert as_sets(checked) == recorded.recorded(name, p, score)


@pytest.mark.thorough
@pytest.mark.parametrize("score", recorded.SEARCHES)
@pytest.mark.parametrize(("name", "p"), recorded.CASES)
def test_the_twin_finds_what_is_recorded_of_it(name: str, p: str, score: str) -> None:
    assert dict(recorded.twins(name, p, score)) == recorded.recorded(name, p, score)


@pytest.mark.long
def test_the_record_is_of_the_twin() -> None:
    """Of a few vertices each time; of all of them under `--thorough`."""
    for name, p in recorded.CASES:
        for search in recorded.SEARCHES:
            kept = recorded.recorded(name, p, search)
            for q in random.Random(2).sample(sorted(kept), 3 if search == "smallest" else 20):
                assert recorded.twin(name, p, search, q) == kept[q]


@pytest.mark.parametrize("score", SEARCHES)
@pytest.mark.parametrize("p", ["0.1", pytest.param("0.3", marks=pytest.mark.long)])
def test_every_vertex_of_the_shipped_graph_is_streamed_as_in_the_batch(p: str, score: str) -> None:
    graph = naive.read_edges(sample_path())
    built = arrays(graph)
    streamed = search_streamed(lambda keys: [(key, list(graph[key])) for key in keys], sorted(graph), Search(p, score))
    assert list(streamed) == list(search_all(built, p, score).cohesions())


@pytest.mark.long
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(
    ("name", "p", "sample"), [("bitcoin_alpha", "0.1", 3_783), ("hepph_cit", "0.1", 300), ("hepth_ca", "0.5", 30)]
)
def test_vertices_of_a_larger_graph_have_the_twins_cohesions(name: str, p: str, sample: int, score: str) -> None:
    graph = naive.read_edges(outside_graph(f"{name}.edges.gz"))
    built = arrays(graph)
    chosen = random.Random(1).sample(range(len(graph)), sample)
    batch = search_all(built, p, score, vertices=chosen)
    expected = {q: naive.minimal_p_cohesion(graph, Fraction(p), q, score) for q in built.keys[np.sort(chosen)].tolist()}
    assert as_sets(batch.cohesions()) == expected


@pytest.mark.long
def test_a_hub_of_more_than_65536_neighbours_is_searched_for() -> None:
    """A hub adjacent to 70,000 vertices, of which every five in a row are adjacent to each other, too."""
    rows: dict[int, list[int]] = {0: list(range(1, 70_001))}
    for first in range(1, 70_001, 5):
        five = range(first, first + 5)
        rows |= {v: [0, *(w for w in five if w != v)] for v in five}
    graph = graph_from_rows(rows.items())
    of_hub, of_another = search_all(graph, "0.3", vertices=[0, 1], check=True).cohesions()
    assert of_hub.size == 1 + 21_000  # 3 in 10 of its neighbours; each of them needs the hub and one more
    kept = np.bincount([(int(v) - 1) // 5 for v in of_hub.members if v])
    assert 1 not in kept
    assert (of_another.size, of_another.edges) == (3, 3)
