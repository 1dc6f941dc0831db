"""Only a total: its promise over every graph of four vertices, by brute force (GUARANTEE.md#total)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations

import pytest

from pcneo.counting.counted import CountedGraph
from pcneo.graph import graph_from_edges
from pcneo.privacy.mechanisms import Edge, Total
from pcneo.privacy.noise import SimulatedNoise

Edges = frozenset[tuple[int, int]]


def every_graph(n: int) -> Iterator[Edges]:
    pairs = list(combinations(range(n), 2))
    for size in range(len(pairs) + 1):
        yield from map(frozenset, combinations(pairs, size))


def cliques(n: int, edges: Edges, k: int) -> int:
    return sum(all(pair in edges for pair in combinations(group, 2)) for group in combinations(range(n), k))


def largest_common(n: int, edges: Edges) -> int:
    rows = [{b for b in range(n) if (min(a, b), max(a, b)) in edges} for a in range(n)]
    return max(len(rows[a] & rows[b]) for a, b in combinations(range(n), 2))


def facts(n: int, edges: Edges) -> CountedGraph:
    ends = sorted(edges)
    return CountedGraph(graph_from_edges(range(n), [a for a, _ in ends], [b for _, b in ends]))


# --- What one connection changes


@pytest.mark.parametrize(("n", "k"), [(3, 3), (4, 3), (4, 4), (5, 3), (5, 4)])
def test_the_scale_covers_what_one_connection_changes_and_not_more_than_is_needed(n: int, k: int) -> None:
    mechanism = Total(k=k, epsilon=2, epsilon_1=1, n=n)
    slack = []
    for edges in every_graph(n):
        for pair in combinations(range(n), 2):
            other = edges ^ {pair}
            rows = [{b for b in range(n) if (min(a, b), max(a, b)) in edges} for a in pair]
            moved = abs(cliques(n, edges, k) - cliques(n, other, k))
            slack.append(mechanism.covering(len(rows[0] & rows[1])) - moved)
    assert min(slack) == 0


@pytest.mark.parametrize("k", [3, 4, 5])
def test_a_total_has_a_kth_of_the_scale_of_counts(k: int) -> None:
    of_total, of_counts = (kind(k=k, epsilon=3, n=50) for kind in (Total, Edge))
    assert vars(of_total) == vars(of_counts)
    for common in (0, 1, 7, 48, 60):
        assert of_total.expected_scale(common) * k == of_counts.expected_scale(common)
    assert (of_total.least_scale * k, of_total.largest_scale * k) == (of_counts.least_scale, of_counts.largest_scale)


# --- What is drawn


def test_what_is_drawn_is_one_number_and_nothing_else_of_the_graph() -> None:
    wanted: list[tuple[float, int]] = []

    def five(scale: float, size: int) -> list[int]:
        wanted.append((scale, size))
        return [5] * size

    edges = frozenset(combinations(range(5), 2))
    mechanism, graph = Total(epsilon=1, epsilon_1="1/4", delta="1/10", n=5), facts(5, edges)
    drawn = mechanism.draw(graph, SimulatedNoise(five))
    scale = Fraction(3) / Fraction(3, 4)  # C* is cut at n - 2 = 3
    assert wanted == [(Fraction(4), 1), (scale, 1)]
    assert (drawn.counts, drawn.scale) == ([10 + 5], scale)
    assert (drawn.columns, drawn.record) == ({"total": [15]}, {"total": 15})


# --- The promise, exactly: every scale that the code of a release may draw, every total


@cache
def alpha(scale: float) -> float:
    return math.exp(-1 / scale)


def probability(x: int, scale: float) -> float:
    a = alpha(scale)
    return (1 - a) / (1 + a) * a ** abs(x)


def chances_of_scales(mechanism: Total, common: int) -> dict[Fraction, float]:
    """How likely each scale is that the mechanism finds where C is `common`."""
    first, chances = 1 / mechanism.epsilon_1, dict[Fraction, float]()
    for x in range(-150, 151):

        def drawn(scale: float, size: int, x: int = x) -> list[int]:
            assert (Fraction(scale), size) == (first, 1)
            return [x]

        scale = mechanism.covering(mechanism.bound(common, SimulatedNoise(drawn)))
        chances[scale] = chances.get(scale, 0.0) + probability(x, float(first))
    return chances


def largest_excess(mechanism: Total, n: int, k: int) -> float:
    """The largest, over all graphs and pairs, of the sum over outputs of P - e^ε·P', where positive."""

    @cache
    def excess(count: int, common: int, other: int, other_common: int) -> float:
        here, there = chances[common], chances[other_common]
        return sum(
            max(0.0, p * probability(t - count, float(scale)) - q * probability(t - other, float(scale)))
            for scale, p in here.items()
            for q in [there.get(scale, 0.0) * math.exp(mechanism.epsilon)]
            for t in range(-100, 100)
        )

    graphs = {edges: (cliques(n, edges, k), largest_common(n, edges)) for edges in every_graph(n)}
    chances = {common: chances_of_scales(mechanism, common) for _, common in graphs.values()}
    return max(
        excess(*graphs[edges], *graphs[edges ^ {pair}]) for edges in graphs for pair in combinations(range(n), 2)
    )


@pytest.mark.parametrize(("n", "k"), [(3, 3), (4, 3), (4, 4)])
@pytest.mark.parametrize(
    ("epsilon_1", "epsilon_2", "delta"),
    [("1/2", "1/2", "1/20"), pytest.param("1/5", "9/5", "1/5", marks=pytest.mark.long)],
)
def test_no_set_of_outputs_betrays_a_connection_by_more_than_is_promised(
    n: int, k: int, epsilon_1: str, epsilon_2: str, delta: str
) -> None:
    epsilon = Fraction(epsilon_1) + Fraction(epsilon_2)
    mechanism = Total(k=k, epsilon=epsilon, n=n, delta=delta, epsilon_1=epsilon_1)
    assert largest_excess(mechanism, n, k) <= mechanism.delta


class WithoutPad(Total):
    """A bound that is too low half of the time."""

    @cached_property
    def _pad(self) -> int:
        return 0


class CutTooLow(Total):
    """A bound of one common neighbour fewer than two vertices may have."""

    def _clamped(self, bound: int) -> int:
        return min(self.n - 3, bound)


@pytest.mark.parametrize("mutant", [WithoutPad, CutTooLow])
def test_mutants_betray_a_connection(mutant: type[Total]) -> None:
    mechanism = mutant(k=3, epsilon="3.2", n=4, delta="1/100", epsilon_1="1/5")
    assert largest_excess(mechanism, 4, 3) > mechanism.delta >= excess_of_the_whole()


@cache
def excess_of_the_whole() -> float:
    return largest_excess(Total(k=3, epsilon="3.2", n=4, delta="1/100", epsilon_1="1/5"), 4, 3)
