"""Losses of single pairs against the definition, in exact fractions (GUARANTEE.md#loss-of-one-connection)."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import examples

from pcneo.basics.model import Graph
from pcneo.counting.cliques import clique_supports, edge_ends
from pcneo.counting.losses import pair_losses
from pcneo.counting.protected import Protected, largest_supports, listed_hull, pair_blocks, protect
from pcneo.errors import GraphError, ParameterError
from pcneo.graph import graph_from_edges
from pcneo.privacy.mechanisms import Critical
from pcneo.privacy.quantiles import StreamedQuantiles, quantiles
from pcneo.release.loss_summary import losses_inside, rates_of
from pcneo.search import minimal_p_cohesions

SCALES = [Fraction(0), Fraction(1, 7), Fraction(3), Fraction(22, 3)]


def loss(adjacency: naive.Graph, pair: naive.Edge, k: int, scales: list[Fraction]) -> Fraction | float:
    """Σ_v Δ_v/t_v in the graph with the pair; infinite where a vertex with t_v = 0 is in a clique that changes."""
    joined = naive.with_pairs(adjacency, [pair])
    changed = [clique for clique in naive.cliques(joined, k) if set(pair) <= clique]
    if any(scales[v] == 0 for clique in changed for v in clique):
        return math.inf
    return sum((1 / scales[v] for clique in changed for v in clique), start=Fraction(0))


def rates(scales: list[Fraction]) -> np.ndarray:
    return np.array([math.inf if t == 0 else float(1 / t) for t in scales])


def arrays(adjacency: naive.Graph) -> Graph:
    edges = [(a, b) for a in adjacency for b in adjacency[a] if a < b]
    return graph_from_edges(sorted(adjacency), [a for a, _ in edges], [b for _, b in edges])


def columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    sources, targets = np.array(pairs, np.int64).reshape(-1, 2).T
    return sources, targets


@st.composite
def cases(draw: st.DrawFn) -> tuple[naive.Graph, list[Fraction]]:
    n = draw(st.integers(2, 9))
    pairs = list(combinations(range(n), 2))
    left_out = draw(st.sets(st.sampled_from(pairs), max_size=n))
    return naive.graph_of([pair for pair in pairs if pair not in left_out], isolated=range(n)), draw(
        st.lists(st.sampled_from(SCALES), min_size=n, max_size=n)
    )


@pytest.mark.parametrize("k", [3, 4, 5, 6])
@settings(max_examples=examples(60))
@given(case=cases())
def test_the_loss_of_every_pair_connected_or_not_is_that_of_the_definition(
    k: int, case: tuple[naive.Graph, list[Fraction]]
) -> None:
    adjacency, scales = case
    pairs = list(combinations(range(len(adjacency)), 2))
    result = pair_losses(arrays(adjacency), *columns(pairs), k, rates(scales), concurrency=1)
    assert result.whole
    assert result.places.tolist() == list(range(len(pairs)))
    for pair, actual in zip(pairs, result.losses.tolist(), strict=True):
        expected = loss(adjacency, pair, k, scales)
        assert actual == expected if expected in (0, math.inf) else math.isclose(actual, expected, rel_tol=1e-13)


@pytest.mark.parametrize("k", [3, 4, 5])
def test_with_exact_counts_everywhere_a_pair_in_a_clique_costs_infinitely_much_and_any_other_nothing(k: int) -> None:
    adjacency = naive.graph_of([*combinations(range(k), 2), (k, k + 1)])
    pairs = [(0, 1), (k, k + 1), (0, k)]
    result = pair_losses(arrays(adjacency), *columns(pairs), k, np.full(k + 2, math.inf))
    assert result.losses.tolist() == [math.inf, 0, 0]


@pytest.mark.parametrize("k", [3, 4, 5])
def test_with_every_rate_1_the_loss_of_a_connection_is_k_times_its_support(k: int) -> None:
    rng = np.random.default_rng(k)
    pairs = [pair for pair in combinations(range(150), 2) if rng.random() < 0.25]
    graph = arrays(naive.graph_of(pairs, isolated=range(150)))
    result = pair_losses(graph, *edge_ends(graph), k, np.ones(150), concurrency=2)
    assert result.losses.tolist() == (k * clique_supports(graph, k)).tolist()


# --- `critical` on graphs with their real memberships


@pytest.mark.parametrize("k", [3, 4, 5])
@pytest.mark.parametrize("p", ["0.2", "0.5", pytest.param("0.7", marks=pytest.mark.long)])
def test_no_pair_inside_a_group_costs_more_than_epsilon_and_one_costs_it_all_where_the_graph_is_its_own_hull(
    p: str, k: int
) -> None:
    mechanism = Critical(k, Fraction(7, 10))
    tight = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        pairs = [pair for pair in combinations(range(14), 2) if rng.random() < 0.45]
        graph = arrays(naive.graph_of(pairs, isolated=range(14)))
        protected = protect(graph, minimal_p_cohesions(graph, p))
        scales = mechanism.scales(largest_supports(protected, k).per_vertex.tolist())
        assert worst(graph, protected, k, scales) <= 0.7 * (1 + 1e-12)

        in_the_hull = worst(listed_hull(protected)[0], protected, k, scales)
        if any(scales):
            tight += 1
            assert math.isclose(in_the_hull, 0.7, rel_tol=1e-12)
        else:
            assert in_the_hull == 0
    assert tight > 5


def worst(graph: Graph, protected: Protected, k: int, scales: list[Fraction]) -> float:
    return pair_losses(graph, *next(pair_blocks(protected)), k, rates(scales)).losses.max(initial=0)


# --- So many pairs that they are never held together


@pytest.mark.parametrize("seed", range(6))
def test_quantiles_of_losses_that_are_passed_over_in_parts_are_those_of_all_of_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    losses = rng.choice([0, 5e-324, 1e-12, 0.1, math.nextafter(0.1, 1), 3.5, 1e300, math.inf], 500 * seed + 1)
    losses[::3] *= rng.random(len(losses[::3]))
    streamed = StreamedQuantiles(len(losses))
    for _ in range(streamed.PASSES):
        for part in np.array_split(rng.permutation(losses), 7):
            streamed.add(part)
        streamed.end_pass()
    assert streamed.quantiles() == quantiles(losses)


@pytest.mark.parametrize("held", [1, pytest.param(40, marks=pytest.mark.long), 10_000])
def test_losses_of_pairs_that_are_not_held_together_are_the_same(held: int) -> None:
    rng = np.random.default_rng(held)
    pairs = [pair for pair in combinations(range(60), 2) if rng.random() < 0.2]
    graph = arrays(naive.graph_of(pairs, isolated=range(60)))
    protected = protect(graph, minimal_p_cohesions(graph, "0.4"))
    scales = [SCALES[i] for i in rng.integers(len(SCALES), size=60)]
    passed = losses_inside(graph, protected, 3, rates_of(scales, 60), 10**9, held=held)
    assert passed.seed is None
    assert passed == losses_inside(graph, protected, 3, rates_of(scales, 60), 10**9)
    assert passed.pairs > 500
    assert passed.infinite > 0


def test_for_larger_cliques_a_sample_of_so_many_pairs_is_drawn() -> None:
    graph, _, _ = dense()
    protected = protect(graph, minimal_p_cohesions(graph, "0.6"))
    u, v = next(pair_blocks(protected))
    everything = pair_losses(graph, u, v, 4, np.ones(60))
    sample = losses_inside(graph, protected, 4, np.ones(60), 10**9, held=300)
    assert sample.pairs == len(u) > 1_000
    assert 200 < sample.counted < 300
    assert sample.seed is not None
    known = dict(zip(zip(u.tolist(), v.tolist(), strict=True), everything.losses.tolist(), strict=True))
    assert all(known[a, b] == loss for a, b, loss in sample.worst)
    assert sample == losses_inside(graph, protected, 4, np.ones(60), 10**9, held=300)


# --- Too much to do


def dense() -> tuple[Graph, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    pairs = [pair for pair in combinations(range(60), 2) if rng.random() < 0.6]
    return arrays(naive.graph_of(pairs, isolated=range(60))), *columns(list(combinations(range(60), 2)))


@pytest.mark.parametrize("concurrency", [1, 2])
def test_what_cannot_be_afforded_is_a_sample_with_the_same_losses_whatever_the_number_of_threads(
    concurrency: int,
) -> None:
    graph, sources, targets = dense()
    everything = pair_losses(graph, sources, targets, 5, np.ones(60))
    sample = pair_losses(graph, sources, targets, 5, np.ones(60), affordable=1_000_000, concurrency=concurrency)
    assert not sample.whole
    assert 64 <= len(sample.places) < len(sources)
    assert (np.diff(sample.places) > 0).all()
    assert sample.losses.tolist() == everything.losses[sample.places].tolist()
    again = pair_losses(graph, sources, targets, 5, np.ones(60), affordable=1_000_000, concurrency=3 - concurrency)
    assert again.places.tolist() == sample.places.tolist()


def test_a_sample_may_be_empty() -> None:
    graph, sources, targets = dense()
    sample = pair_losses(graph, sources, targets, 5, np.ones(60), affordable=10)
    assert len(sample.places) == 0
    assert not sample.whole


def test_more_cliques_than_64_bits_hold_are_refused() -> None:
    graph = arrays(naive.graph_of(combinations(range(80), 2)))
    with pytest.raises(GraphError, match="choose a smaller k"):
        pair_losses(graph, *columns([(0, 1)]), 40, np.ones(80))


@pytest.mark.parametrize(
    ("sources", "targets", "k", "given_rates", "match"),
    [
        ([0], [0], 3, [1, 1, 1], "two different ends"),
        ([0], [3], 3, [1, 1, 1], "positions from 0 to 2"),
        ([0, 1], [2], 3, [1, 1, 1], "positions from 0 to 2"),
        ([-1], [2], 4, [1, 1, 1], "positions from 0 to 2"),
        ([0], [1], 3, [1, 1], "for each of 3 vertices"),
        ([0], [1], 3, [1, 1, math.nan], "for each of 3 vertices"),
        ([0], [1], 2, [1, 1, 1], "k must be"),
    ],
)
def test_what_does_not_fit_the_graph_is_refused(
    sources: list[int], targets: list[int], k: int, given_rates: list[float], match: str
) -> None:
    graph = arrays(naive.graph_of([(0, 1), (1, 2), (0, 2)]))
    with pytest.raises(ParameterError, match=match):
        pair_losses(graph, np.array(sources, np.int64), np.array(targets, np.int64), k, np.array(given_rates, float))


def test_no_pairs_cost_nothing() -> None:
    graph = arrays(naive.graph_of([(0, 1)]))
    nothing = np.empty(0, np.int64)
    for k in (3, 4):
        assert pair_losses(graph, nothing, nothing, k, np.ones(2)).losses.tolist() == []
