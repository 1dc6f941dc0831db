"""The facts behind the proofs of `edge` and `elv`, over every labelled graph of up to six vertices (GUARANTEE.md#edge).

A graph is an integer, its bits the pairs of vertices in the order of `combinations(range(n), 2)`; every quantity is an
array over all graphs, so that "the graph with e toggled" is indexing with `graph ^ e`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from lengths import usual_or_thorough

from pcneo.privacy.laplace import pad
from pcneo.privacy.mechanisms import Edge, Elv
from pcneo.privacy.noise import SimulatedNoise, handed_scale

SIZES = range(2, 7)


class Every:
    """All labelled graphs of n vertices."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.pairs = list(combinations(range(n), 2))
        self.bit = {pair: 1 << i for i, pair in enumerate(self.pairs)}
        self.graphs = np.arange(1 << len(self.pairs))
        self.common = {pair: self.common_neighbours(*pair) for pair in self.pairs}
        self.degrees = np.stack([sum(self.has(v, u) for u in range(n) if u != v) for v in range(n)])
        self.largest_at = np.stack(
            [np.max([cn for pair, cn in self.common.items() if v in pair], axis=0) for v in range(n)]
        )
        self.largest = np.max(list(self.common.values()), axis=0)

    def has(self, a: int, b: int) -> np.ndarray:
        return (self.graphs & self.bit[min(a, b), max(a, b)] != 0).astype(int)

    def common_neighbours(self, a: int, b: int) -> np.ndarray:
        others = [u for u in range(self.n) if u not in (a, b)]
        return sum((self.has(a, u) * self.has(b, u) for u in others), start=np.zeros(len(self.graphs), int))

    def counts(self, k: int) -> np.ndarray:
        counts = np.zeros((self.n, len(self.graphs)), int)
        for group in combinations(range(self.n), k):
            edges = sum(self.bit[pair] for pair in combinations(group, 2))
            counts[list(group)] += self.graphs & edges == edges
        return counts

    def toggles(self) -> Iterator[tuple[tuple[int, int], np.ndarray]]:
        """Each pair, and for every graph the graph with that pair toggled."""
        for pair, bit in self.bit.items():
            yield pair, self.graphs ^ bit


@cache
def every(n: int) -> Every:
    return Every(n)


# --- Sensitivities


@pytest.mark.parametrize("n", SIZES)
def test_one_connection_moves_the_largest_common_neighbourhood_by_at_most_one(n: int) -> None:
    all_graphs = every(n)
    moves = [np.abs(all_graphs.largest - all_graphs.largest[toggled]).max() for _, toggled in all_graphs.toggles()]
    assert max(moves) == (1 if n > 2 else 0)


@pytest.mark.parametrize("n", SIZES)
def test_one_connection_moves_the_degrees_by_two_in_sum(n: int) -> None:
    degrees = every(n).degrees
    assert all((np.abs(degrees - degrees[:, toggled]).sum(axis=0) == 2).all() for _, toggled in every(n).toggles())


@pytest.mark.parametrize("n", SIZES)
def test_one_connection_moves_each_vertex_s_largest_common_neighbourhood_by_at_most_one(n: int) -> None:
    largest_at = every(n).largest_at
    moves = [np.abs(largest_at - largest_at[:, toggled]).max() for _, toggled in every(n).toggles()]
    assert max(moves) == (1 if n > 2 else 0)


@pytest.mark.parametrize("n", SIZES)
def test_a_pair_s_common_neighbours_do_not_depend_on_the_pair_being_connected(n: int) -> None:
    common = every(n).common
    assert all((common[pair] == common[pair][toggled]).all() for pair, toggled in every(n).toggles())


@pytest.mark.parametrize("k", [3, 4, 5, 6])
@pytest.mark.parametrize("n", SIZES)
def test_one_connection_moves_the_counts_by_at_most_k_times_the_binomial(n: int, k: int) -> None:
    all_graphs = every(n)
    counts = all_graphs.counts(k)
    slack = []
    for pair, toggled in all_graphs.toggles():
        moved = np.abs(counts - counts[:, toggled]).sum(axis=0)
        slack.append(np.array([k * math.comb(cn, k - 2) for cn in range(n)])[all_graphs.common[pair]] - moved)
    assert min(part.min() for part in slack) == 0


@pytest.mark.parametrize("k", [3, 4, 5])
@pytest.mark.parametrize("n", SIZES)
def test_the_scale_of_edge_covers_every_connection_unless_the_noise_eats_the_pad(n: int, k: int) -> None:
    """With the least noise that does not count as a failure, λ·ε2 is at least the change of the counts."""
    all_graphs = every(n)
    mechanism = Edge(k=k, epsilon=1, n=n, delta="0.01")
    lowest = -pad(Fraction(handed_scale(1 / mechanism.epsilon_1)), mechanism.delta)
    noise = SimulatedNoise(lambda scale, size: [lowest] * size)
    scales = [mechanism.covering(mechanism.bound(C, noise)) for C in range(n - 1)]
    covered = np.array([scale * mechanism.epsilon_2 for scale in scales])[all_graphs.largest]
    counts = all_graphs.counts(k)
    assert all(
        (np.abs(counts - counts[:, toggled]).sum(axis=0) <= covered).all() for _, toggled in all_graphs.toggles()
    )


# --- How often the bound of `elv` fails


def at_least(m: int, truth: int, t: Fraction, a: int) -> float:
    """P[truth + X(t) + a >= m], from the definition; the complement is computed by `below`."""
    return 1 - below(m, truth, t, a)


def below(m: int, truth: int, t: Fraction, a: int) -> float:
    """P[truth + X(t) + a < m]."""
    alpha, x = math.exp(-1 / float(t)), m - 1 - truth - a
    return alpha**-x / (1 + alpha) if x < 0 else 1 - alpha ** (x + 1) / (1 + alpha)


def failure(mechanism: Elv, degrees: list[int], common: list[int], m: int) -> float:
    """P[max U < m]: exactly the vertices of some B, at most h, report m or more, and all of B then answer less."""
    degree_pad, common_pad = (
        pad(Fraction(handed_scale(t)), mechanism.part_delta) for t in (mechanism.degree_scale, mechanism.common_scale)
    )
    low = [below(m, d, mechanism.degree_scale, degree_pad) for d in degrees]
    high = [
        at_least(m, d, mechanism.degree_scale, degree_pad) * below(m, c, mechanism.common_scale, common_pad)
        for d, c in zip(degrees, common, strict=True)
    ]
    return sum(
        math.prod(high[v] if v in B else low[v] for v in range(len(degrees)))
        for size in range(mechanism.h + 1)
        for B in combinations(range(len(degrees)), size)
    )


def elv(n: int, h: int, epsilon: str, delta: str) -> Elv:
    return Elv(k=3, epsilon=epsilon, n=n, delta=delta, h=min(h, n))


def largest_failure(mechanism: Elv, n: int) -> float:
    """The largest, over all graphs of n vertices, for the pair that is hardest to cover."""
    all_graphs = every(n)
    cases = np.vstack([all_graphs.degrees, all_graphs.largest_at, all_graphs.largest]).T.tolist()
    different = {(*sorted(zip(case[:n], case[n : 2 * n], strict=True)), case[-1]) for case in map(tuple, cases)}
    worst = 0.0
    for *vertices, m in different:
        if m > 0:  # else λ's floor is enough
            degrees, common = zip(*vertices, strict=True)
            worst = max(worst, failure(mechanism, list(degrees), list(common), m))
    return worst


DELTAS = [("1", "1e-6"), ("1", "0.05"), ("10", "0.01"), ("40", "0.5"), ("200", "0.9")]


@pytest.mark.parametrize(("epsilon", "delta"), DELTAS)
@pytest.mark.parametrize("h", [1, 2, 3, 6])
def test_the_bound_fails_for_a_connection_with_a_probability_of_at_most_delta(h: int, epsilon: str, delta: str) -> None:
    for n in range(2, usual_or_thorough(5, 7)):
        assert largest_failure(elv(n, h, epsilon, delta), n) <= float(delta) * (1 + 1e-9)


@pytest.mark.parametrize("delta", ["1/7", "1e-6", "0.9999999999", "1e-299", "123456789/987654321"])
def test_twice_the_part_of_delta_squared_is_delta_and_never_more(delta: str) -> None:
    mechanism = elv(50, 3, "1", delta)
    assert mechanism.part_delta == elv(50, 1, "7", delta).part_delta
    assert 1 - Fraction(1, 10**8) < (2 * mechanism.part_delta) ** 2 / Fraction(delta) <= 1


class WithoutHalf(Elv):
    """As if one end of a connection alone had to fail in one way."""

    @property
    def part_delta(self) -> Fraction:
        return 2 * super().part_delta


def test_a_part_of_twice_that_size_lets_the_bound_fail_too_often() -> None:
    mutant = WithoutHalf(k=3, epsilon=1, n=3, delta="0.05", h=3)
    assert largest_failure(mutant, 3) > 0.06
    assert largest_failure(elv(3, 3, "1", "0.05"), 3) < 0.01


def test_the_mechanism_fails_as_often_as_the_sum_says() -> None:
    """20,000 runs of phase 1 with four vertices, δ near 1 so that failures are common.

    Size: a binomial is four standard deviations or more from its mean with a probability of 6.3e-5 here, exactly.
    Power: a failure probability larger or smaller by a fifth is noticed with one above 0.99.
    """
    mechanism = Elv(k=3, epsilon=20, n=4, delta="0.99", h=1)
    degrees, common = [1, 1, 1, 2], [0, 0, 0, 2]
    m, runs = 2, 20_000
    exact = failure(mechanism, degrees, common, m)
    noise = SimulatedNoise.seeded(5)
    # With k = 3, λ·ε2/3 is max U, cut at n-2 = 2 and not below 1.
    fails = sum(mechanism.scale(degrees, common.__getitem__, noise) * mechanism.epsilon_2 < 3 * m for _ in range(runs))
    assert 0.01 < exact < 0.5
    assert abs(fails / runs - exact) < 4 * math.sqrt(exact * (1 - exact) / runs)
