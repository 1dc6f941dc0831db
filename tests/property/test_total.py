"""A total alone: its promise over every graph of four vertices, by a twin that shares no code (GUARANTEE.md#total)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
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
    mechanism = Total.make(k=k, epsilon=2, epsilon_1=1, n=n)
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
    of_total, of_counts = (kind.make(k=k, epsilon=3, n=50) for kind in (Total, Edge))
    assert of_total.parameters == of_counts.parameters
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
    mechanism, graph = Total.make(epsilon=1, epsilon_1="1/4", delta="1/10", n=5), facts(5, edges)
    drawn = mechanism.draw(graph, mechanism.scaling(graph), SimulatedNoise(five))
    scale = Fraction(3) / Fraction(3, 4)  # C* is cut at n - 2 = 3
    assert wanted == [(Fraction(4), 1), (scale, 1)]
    assert (drawn.counts, drawn.scales) == ([10 + 5], [scale])
    assert (drawn.columns, drawn.record) == ({"total": [15]}, {"total": 15})


# --- The promise, exactly: every value of C*, every total


@cache
def alpha(scale: float) -> float:
    return math.exp(-1 / scale)


def probability(x: int, scale: float) -> float:
    a = alpha(scale)
    return (1 - a) / (1 + a) * a ** abs(x)


def least_pad(scale: float, delta: float) -> int:
    a = 0
    while alpha(scale) ** (a + 1) / (1 + alpha(scale)) > delta:
        a += 1
    return a


def twin(n: int, edges: Edges, k: int, epsilon_1: float, epsilon_2: float, delta: float) -> dict[int, float]:
    """The chance of each C*."""
    pad, chances = least_pad(1 / epsilon_1, delta), dict[int, float]()
    for x in range(-400, 401):
        bound = min(n - 2, largest_common(n, edges) + x + pad)
        bound = max(bound, k - 2)
        chances[bound] = chances.get(bound, 0.0) + probability(x, 1 / epsilon_1)
    return chances


@pytest.mark.parametrize(("n", "k"), [(3, 3), (4, 3), (4, 4)])
@pytest.mark.parametrize(("epsilon_1", "epsilon_2", "delta"), [(0.5, 0.5, 0.05), (0.2, 1.8, 0.2)])
def test_no_set_of_outputs_betrays_a_connection_by_more_than_is_promised(
    n: int, k: int, epsilon_1: float, epsilon_2: float, delta: float
) -> None:
    """Over all graphs and pairs: the sum over outputs of P - e^ε·P', where positive, is at most δ."""
    epsilon, reach, worst = epsilon_1 + epsilon_2, 300, 0.0
    parts = epsilon_1, epsilon_2, delta
    outputs = {edges: (cliques(n, edges, k), twin(n, edges, k, *parts)) for edges in every_graph(n)}
    for edges, (count, bounds) in outputs.items():
        for pair in combinations(range(n), 2):
            other, other_bounds = outputs[edges ^ {pair}]
            excess = 0.0
            for bound in bounds.keys() | other_bounds.keys():
                scale = math.comb(bound, k - 2) / epsilon_2
                p, q = bounds.get(bound, 0.0), other_bounds.get(bound, 0.0) * math.exp(epsilon)
                excess += sum(
                    max(0.0, p * probability(t - count, scale) - q * probability(t - other, scale))
                    for t in range(-reach, reach)
                )
            worst = max(worst, excess)
    assert worst <= delta
    shipped = Total.make(k=k, epsilon=str(epsilon), n=n, delta=str(delta), epsilon_1=str(epsilon_1))
    whole = frozenset(combinations(range(n), 2))
    for x in (-50, -3, 0, 2, 50):
        bound = max(k - 2, min(n - 2, largest_common(n, whole) + x + least_pad(1 / epsilon_1, delta)))
        scale = shipped.scale(largest_common(n, whole), SimulatedNoise(lambda scale, size, x=x: [x] * size))
        assert float(scale) == pytest.approx(math.comb(bound, k - 2) / epsilon_2)


def test_without_the_pad_the_promise_would_not_hold() -> None:
    """The test above can fail: a bound without its pad is too low half of the time."""
    n, k, epsilon_1, epsilon_2 = 4, 3, 0.2, 3.0
    whole = frozenset(combinations(range(n), 2))
    less = whole - {(0, 1)}
    excess = 0.0
    for x in range(-400, 401):
        bound = max(k - 2, min(n - 2, largest_common(n, whole) + x))
        scale = math.comb(bound, k - 2) / epsilon_2
        excess += sum(
            max(
                0.0,
                probability(x, 1 / epsilon_1)
                * (
                    probability(t - cliques(n, whole, k), scale)
                    - math.exp(epsilon_1 + epsilon_2) * probability(t - cliques(n, less, k), scale)
                ),
            )
            for t in range(-200, 200)
        )
    assert excess > 0.05
