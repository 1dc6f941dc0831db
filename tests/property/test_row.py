"""`row` is private for any one pair, exactly, by brute force over small graphs (GUARANTEE.md#row)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Any

import naive
import numpy as np
import pytest
from lengths import usual_or_thorough

from pcneo.counting.answers import AnsweredPairs
from pcneo.counting.counted import CountedGraph
from pcneo.errors import GraphError, ParameterError
from pcneo.graph import graph_from_edges
from pcneo.privacy.mechanisms import MechanismRequest, Row
from pcneo.privacy.noise import SimulatedNoise
from pcneo.privacy.row_parts import split

F = Fraction
COINS = 2**24
Pairs = tuple[tuple[int, int], ...]


def made(n: int, epsilon: object = "3", **given: Any) -> Row:
    request = MechanismRequest(mechanism="row", epsilon=epsilon, **given)
    return Row.of(Row.parameters_of(request), n)


@cache
def all_graphs(n: int) -> list[Pairs]:
    pairs = list(combinations(range(n), 2))
    return [
        tuple(p for p, there in zip(pairs, bits, strict=True) if there)
        for bits in product((False, True), repeat=len(pairs))
    ]


def facts(n: int, pairs: Pairs) -> CountedGraph:
    return CountedGraph(graph_from_edges(range(n), [x for x, _ in pairs], [y for _, y in pairs]))


def answers(n: int, pairs: Pairs) -> AnsweredPairs:
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    return AnsweredPairs.of_pairs(n, ends[:, 0], ends[:, 1])


def toggled(graph: Pairs, pair: tuple[int, int]) -> Pairs:
    return tuple(sorted({*graph} ^ {pair}))


# --- The promise


class Sums:
    """What the code of a release adds noise to and the scales it gives it: the noise is watched, and is 0."""

    def __init__(self, n: int, mechanism: Row) -> None:
        self.n, self.mechanism = n, mechanism
        self.facts = {graph: facts(n, graph) for graph in all_graphs(n)}

    def of(self, graph: Pairs, yes: Pairs, limit: int) -> tuple[list[int], list[float]]:
        """Sums and scales where every D(w) is `limit`."""
        mechanism, source = self.mechanism, self.facts[graph]
        degrees = source.degrees().tolist()
        drawn: list[tuple[float, int]] = []

        def sample(scale: float, size: int) -> list[int]:
            drawn.append((scale, size))
            if len(drawn) == 1:
                return [limit - d - mechanism.pad for d in degrees]
            return [0] * size

        given = mechanism.compute(answers(self.n, yes), source, SimulatedNoise(sample))
        assert drawn[0][1] == self.n
        assert [size for _, size in drawn[1:]] == [self.n]
        b, a = COINS, mechanism.threshold
        sums = [round(float(count) * (b - 2 * a)) for count in given.counts]
        return sums, list(given.columns["scale"])


@pytest.mark.parametrize("n", [2, 3, pytest.param(4, marks=pytest.mark.long)])
def test_toggling_any_pair_moves_the_counts_by_at_most_epsilon_2_for_any_answers_and_bounds(n: int) -> None:
    """For any H and every D, also those that a dishonest collector makes up. One end alone can cost ε2/2 exactly.

    Of four vertices every fifth H is taken, and all of them at length.
    """
    mechanism = made(n, epsilon_0="1", epsilon_h="1", epsilon_2="1")
    watched = Sums(n, mechanism)
    worst, worst_end = F(0), F(0)
    for yes in all_graphs(n)[:: usual_or_thorough(5, 1) if n == 4 else 1]:
        for limit in range(1, n):
            table = {graph: watched.of(graph, yes, limit) for graph in all_graphs(n)}
            for graph, (sums, scales) in table.items():
                for pair in combinations(range(n), 2):
                    others, same = table[toggled(graph, pair)]
                    assert scales == same  # given D, scales say nothing
                    losses = [F(abs(x - y)) / F(t) for x, y, t in zip(sums, others, scales, strict=True)]
                    assert all(loss == 0 for v, loss in enumerate(losses) if v not in pair)
                    worst, worst_end = max(worst, sum(losses)), max(worst_end, *losses)
    assert worst <= mechanism.epsilon_2
    if n == 4:
        assert worst_end == mechanism.epsilon_2 / 2


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_bounds_cost_epsilon_0(n: int) -> None:
    """Two degrees change by 1, each with noise of scale 2/ε0; D follows from the noisy degrees and n."""
    mechanism = made(n, epsilon_0="1/2", epsilon_h="1", epsilon_2="1")
    draws: list[tuple[float, int]] = []

    def sample(scale: float, size: int) -> list[int]:
        draws.append((scale, size))
        return [-20, -9, -8, 50, -7][:size]

    bounds = mechanism.bounds([0, 1, 1, 1, 3][:n], SimulatedNoise(sample))
    assert draws == [(4.0, n)]
    assert mechanism.pad == 8
    exact = [d + x + 8 for d, x in zip([0, 1, 1, 1, 3], [-20, -9, -8, 50, -7], strict=True)]
    assert bounds == [min(n - 1, max(1, x)) for x in exact[:n]]


def test_answers_are_drawn_at_epsilon_h() -> None:
    mechanism = made(9, epsilon_0="1/2", epsilon_h="1", epsilon_2="3/2")
    assert F(mechanism.threshold, COINS) == naive.flip_chance(F(1))
    drawn = mechanism.answered(facts(9, ((0, 1),)), SimulatedNoise.seeded(3))
    assert drawn.vertex_count == 9


@pytest.mark.parametrize("n", [4, pytest.param(5, marks=pytest.mark.long)])
def test_sums_and_scales_are_those_of_the_twin_for_every_bound(n: int) -> None:
    mechanism = made(n, epsilon_0="1", epsilon_h="3/2", epsilon_2="1/2")
    watched = Sums(n, mechanism)
    f = F(mechanism.threshold, COINS)
    some = all_graphs(n)[:: usual_or_thorough(3, 1) if n == 4 else usual_or_thorough(67, 37)]
    for graph in some:
        truth = naive.graph_of(graph, isolated=range(n))
        for yes in some[:: 5 if n == 4 else 3]:
            said = naive.graph_of(yes, isolated=range(n))
            for limit in range(1, n):
                sums, scales = watched.of(graph, yes, limit)
                assert sums == [naive.row_sum(truth, said, f, w, limit) for w in range(n)]
                assert scales == [float(naive.row_scale(limit, F(1, 2)))] * n


@pytest.mark.parametrize("n", [65, 130])
def test_yes_answers_among_first_neighbours_agree_with_the_twin_on_larger_graphs(n: int) -> None:
    rng = np.random.default_rng(n)
    pairs = [(int(x), int(y)) for x, y in np.argwhere(np.triu(rng.random((n, n)) < 0.3, 1))]
    said = [(int(x), int(y)) for x, y in np.argwhere(np.triu(rng.random((n, n)) < 0.4, 1))]
    truth, yes = naive.graph_of(pairs, isolated=range(n)), naive.graph_of(said, isolated=range(n))
    limits = rng.integers(0, n, n)
    inside, sizes = facts(n, tuple(pairs)).answered_among(answers(n, tuple(said)), limits)
    for w in range(n):
        first = naive.first_neighbours(truth, w, int(limits[w]))
        assert sizes[w] == len(first)
        assert inside[w] == sum(y in yes[x] for x, y in combinations(first, 2))


# --- The parts of ε


@pytest.mark.parametrize(
    ("epsilon", "parts"), [("1", (0.348, 0.322, 0.33)), ("3", (0.766, 1.033, 1.201)), ("5", (1.069, 1.641, 2.29))]
)
def test_the_default_parts_are_the_best_of_their_grid(epsilon: str, parts: tuple[float, float, float]) -> None:
    mechanism = made(100, epsilon)
    epsilons = (mechanism.epsilon_0, mechanism.epsilon_h, mechanism.epsilon_2)
    assert tuple(map(float, epsilons)) == parts
    assert sum(epsilons) == F(epsilon)
    rest = float(F(epsilon) - epsilons[0])

    def error(epsilon_h: float) -> float:
        f = 1 / (1 + math.exp(epsilon_h))
        return (f * (1 - f) / 2 + 8 / (rest - epsilon_h) ** 2) / (1 - 2 * f) ** 2

    assert error(parts[1]) <= min(error(rest * i / 400) for i in range(1, 400)) * 1.0001


def test_parts_that_are_given_are_kept_and_the_others_fill_epsilon() -> None:
    assert split(F(2), F(1, 2), F(1), None) == (F(1, 2), F(1), F(1, 2))
    assert split(F(2), None, F(1), F(1, 4)) == (F(3, 4), F(1), F(1, 4))
    assert split(F(2), F(1, 2), None, F(1, 4)) == (F(1, 2), F(5, 4), F(1, 4))
    assert split(F(2), F(1, 2), F(1, 3), F(1, 5)) == (F(1, 2), F(1, 3), F(1, 5))
    assert sum(split(F(10, 3), None, None, None)) <= F(10, 3)


def test_what_is_spent_is_the_sum_of_the_parts_and_less_on_answers_that_are_paid_for() -> None:
    parameters = made(50, epsilon_0="1/2", epsilon_h="1", epsilon_2="1/4").parameters
    assert Row.entry(parameters) == (F(7, 4), 0)
    assert Row.entry_on_answers(parameters) == (F(3, 4), 0)
    assert made(50, epsilon_0="1/2", epsilon_h="1", epsilon_2="1/4").cost(1, 2).epsilon == 3 * F(7, 4)


@pytest.mark.parametrize(
    "given",
    [
        {"epsilon_0": "3"},
        {"epsilon_0": "2", "epsilon_h": "2"},
        {"epsilon_0": "1", "epsilon_h": "1", "epsilon_2": "1.001"},
        {"epsilon_0": "2.9995"},
        {"epsilon_h": "0.0005"},
        {"epsilon_h": "2.9999"},
        {"epsilon": "0.001"},
        {"epsilon": "0.0005"},
        {"epsilon": "17"},
    ],
    ids=str,
)
def test_parts_that_are_none_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        made(100, **given)


@pytest.mark.parametrize("part", ["epsilon_0", "epsilon_h", "epsilon_2"])
@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf"])
def test_a_part_that_is_not_positive_and_finite_is_refused(part: str, value: str) -> None:
    with pytest.raises(ParameterError, match="must be a number that is positive"):
        made(100, **{part: value})


def test_other_refusals() -> None:
    with pytest.raises(ParameterError, match="k must be a whole number from 3 to 3"):
        made(100, k=4)
    with pytest.raises(GraphError, match="no vertices"):
        made(0)
    with pytest.raises(ParameterError, match="one vertex"):
        made(1)
    with pytest.raises(ParameterError, match="--large"):
        made(65_537)
    with pytest.raises(ParameterError, match="no delta"):
        made(10, delta="0.1")
    # 64·2·2^24·(n-2)/ε2 >= 2^62 with ε2 = 1/1000 and n = 2^22.
    made(2**21, "1", epsilon_0="0.4", epsilon_h="0.599", epsilon_2="0.001", large=True).check_drawable()
    with pytest.raises(ParameterError, match="cannot be drawn"):
        made(2**22, "1", epsilon_0="0.4", epsilon_h="0.599", epsilon_2="0.001", large=True).check_drawable()


# --- What is published


def test_the_chance_that_neighbours_are_left_out_is_that_of_the_noise() -> None:
    for epsilon in ("1", "3", "10"):
        mechanism = made(100, epsilon)
        t, pad = 2 / mechanism.epsilon_0, mechanism.pad
        alpha = math.exp(-1 / t)
        exact = math.fsum(alpha**i for i in range(pad + 1, 5000)) * (1 - alpha) / (1 + alpha)
        assert mechanism.chance_of_a_cut == pytest.approx(exact)
        assert exact < 0.08


def test_counts_totals_and_errors_follow_from_what_was_drawn() -> None:
    n = 40
    rng = np.random.default_rng(4)
    pairs = tuple((int(x), int(y)) for x, y in np.argwhere(np.triu(rng.random((n, n)) < 0.4, 1)))
    mechanism = made(n, "3", clip=True, smooth=True)
    source = facts(n, pairs)
    noise = SimulatedNoise.seeded(9)
    drawn = mechanism.compute(mechanism.answered(source, noise), source, noise)
    a, b = mechanism.threshold, COINS
    f = a / b
    v = f * (1 - f) / (1 - 2 * f) ** 2
    assert list(drawn.columns) == ["degree", "count", "standardError", "bound", "scale", "clipped", "smoothed"]
    for i in range(n):
        D, t = drawn.columns["bound"][i], drawn.columns["scale"][i]  # noqa: N806
        assert t == float(naive.row_scale(int(D), mechanism.epsilon_2))
        alpha = math.exp(-1 / t)
        squared = 2 * alpha / (1 - alpha) ** 2 / (b - 2 * a) ** 2 + v * math.comb(int(D), 2)
        assert drawn.columns["standardError"][i] == pytest.approx(math.sqrt(squared), rel=1e-6)
        assert drawn.columns["clipped"][i] == min(max(drawn.counts[i], 0), math.comb(int(D), 2))
    assert drawn.record["total"] == pytest.approx(math.fsum(drawn.counts) / 3)
    least = [error**2 for error in drawn.columns["standardError"]]
    largest = [float(math.comb(int(D), 2)) for D in drawn.columns["bound"]]
    expected = naive.smoothed(list(drawn.counts), list(drawn.columns["bound"]), least, largest)
    assert drawn.columns["smoothed"] == pytest.approx(expected)
    assert [drawn.record[name] for name in ("epsilon0", "epsilonH", "epsilon2")] == ["0.766", "1.033", "1.201"]


@pytest.mark.long
def test_counts_are_unbiased_where_no_neighbour_is_left_out() -> None:
    """By all answers about four vertices, with D = 3 for all of them and no noise; of the graphs, every fifth."""
    mechanism = made(4, epsilon_0="1", epsilon_h="1", epsilon_2="1")
    watched, f = Sums(4, mechanism), F(mechanism.threshold, COINS)
    for graph in all_graphs(4)[:: usual_or_thorough(-5, -1)]:
        truth = naive.graph_of(graph, isolated=range(4))
        counts = naive.clique_counts(truth, 3)
        means = [F(0)] * 4
        for yes in all_graphs(4):
            chance = naive.answers_probability(truth, naive.graph_of(yes, isolated=range(4)), f)
            sums, _ = watched.of(graph, yes, 3)
            means = [mean + chance * x for mean, x in zip(means, sums, strict=True)]
        assert [mean / (COINS - 2 * mechanism.threshold) for mean in means] == [counts[w] for w in range(4)]
