"""`respond` is ε-private for any one pair, exactly, and its counts are unbiased: by brute force (GUARANTEE.md#respond).

Answers are those of the code that a release runs, on coins that a test hands out.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import naive
import numpy as np
import pytest

from pcneo.counting.answers import AnsweredPairs
from pcneo.counting.counted import CountedGraph
from pcneo.graph import graph_from_edges
from pcneo.privacy import answer_counts
from pcneo.privacy.answer_counts import Estimates, estimate
from pcneo.privacy.mechanisms import Respond
from pcneo.privacy.noise import SimulatedNoise
from pcneo.privacy.randomised_response import Flips

F = Fraction
COINS = 2**24
EPSILONS = [F(1, 1000), F(7, 10), F(3), F(16)]

Pairs = tuple[tuple[int, int], ...]


@cache
def pairs_of(n: int) -> list[tuple[int, int]]:
    return list(combinations(range(n), 2))


@cache
def all_graphs(n: int) -> list[Pairs]:
    return [
        tuple(pair for pair, there in zip(pairs_of(n), bits, strict=True) if there)
        for bits in product((False, True), repeat=math.comb(n, 2))
    ]


def facts(n: int, pairs: Sequence[tuple[int, int]]) -> CountedGraph:
    return CountedGraph(graph_from_edges(range(n), [x for x, _ in pairs], [y for _, y in pairs]))


def coins(numbers: Sequence[int]) -> SimulatedNoise:
    """Coins as numbers of three bytes, the highest first."""
    left = b"".join(number.to_bytes(3, "big") for number in numbers)

    def take(size: int) -> bytes:
        nonlocal left
        taken, left = left[:size], left[size:]
        return taken

    return SimulatedNoise(lambda scale, size: [0] * size, take)


def yes_pairs(answers: object) -> Pairs:
    assert isinstance(answers, AnsweredPairs)
    pairs = tuple((x, int(y)) for x, ys in answers.upper_rows() for y in ys)
    n = answers.vertex_count
    bits = np.unpackbits(answers.rows.view(np.uint8), axis=1, bitorder="little")
    assert not bits[:, n:].any()
    assert np.array_equal(bits[:, :n], bits[:, :n].T)
    assert not bits.diagonal().any()
    assert answers.yes_count == len(pairs)
    return pairs


@cache
def distribution(n: int, graph: Pairs, epsilon: Fraction) -> dict[Pairs, Fraction]:
    """The probability of every answer, by the code of a release on every pattern of flips."""
    mechanism = Respond(epsilon=epsilon, n=n)
    a = mechanism.threshold
    f, source = F(a, COINS), facts(n, graph)
    chances: dict[Pairs, Fraction] = {}
    for flips in product((False, True), repeat=math.comb(n, 2)):
        answers = yes_pairs(mechanism.answered(source, coins([a - 1 if flip else a for flip in flips])))
        chance = math.prod((f if flip else 1 - f for flip in flips), start=F(1))
        chances[answers] = chances.get(answers, F(0)) + chance
    return chances


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
@pytest.mark.parametrize("n", [2, 3, pytest.param(4, marks=pytest.mark.long)])
def test_toggling_any_pair_of_any_graph_changes_every_answer_s_odds_by_at_most_e_to_the_epsilon(
    n: int, epsilon: Fraction
) -> None:
    """It is tight: every pair of every graph costs exactly ln((1-f)/f)."""
    f = naive.flip_chance(epsilon)
    exact = (1 - f) / f
    terms = [(epsilon / 16) ** i / math.factorial(i) for i in range(40)]
    assert exact <= sum(terms) ** 16  # which is below e^ε
    for graph in all_graphs(n):
        here = distribution(n, graph, epsilon)
        assert sum(here.values()) == 1
        for pair in pairs_of(n):
            there = distribution(n, tuple(sorted({*graph} ^ {pair})), epsilon)
            assert {here[yes] / there[yes] for yes in here} == {exact, 1 / exact}


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_answers_are_as_likely_as_the_twin_says(epsilon: Fraction) -> None:
    f = naive.flip_chance(epsilon)
    for graph in all_graphs(4):
        truth = naive.graph_of(graph, isolated=range(4))
        for yes, chance in distribution(4, graph, epsilon).items():
            assert chance == naive.answers_probability(truth, naive.graph_of(yes, isolated=range(4)), f)


# --- The estimators


def estimates(n: int, yes: Pairs, below: int, k: int) -> Estimates:
    ends = np.array(yes, np.int64).reshape(-1, 2)
    return estimate(AnsweredPairs.of_parts(n, [ends]), Flips(n, below), k)


def close(computed: float, exact: Fraction) -> bool:
    return math.isclose(computed, exact, rel_tol=1e-9, abs_tol=1e-300)


def check(n: int, yes: Pairs, below: int, k: int, vertices: Sequence[int]) -> None:
    result, f = estimates(n, yes, below, k), F(below, COINS)
    twin = naive.graph_of(yes, isolated=range(n))
    for w in vertices:
        assert close(result.counts[w], naive.counts_from_answers(twin, k, f, w))
        degree = sum((naive.debiased(twin, f, w, x) for x in range(n) if x != w), F(0))
        assert close(result.degrees[w], degree)
    if len(vertices) == n:
        total = sum((naive.counts_from_answers(twin, k, f, w) for w in range(n)), F(0)) / k
        assert close(result.total, total)


@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize("n", [2, 3, 4, pytest.param(5, marks=pytest.mark.long)])
def test_counts_are_the_sums_of_products_on_every_graph_of_answers(n: int, k: int) -> None:
    for number, yes in enumerate(all_graphs(n)):
        check(n, yes, [2, 112_288, 5_000_000, 8_384_414][number % 4], k, range(n))


def random_answers(seed: int) -> Iterator[tuple[int, Pairs, int]]:
    rng = random.Random(seed)
    for _ in range(200):
        n = rng.choice([6, 17, 33, 40])
        share = rng.random()
        yield n, tuple(p for p in pairs_of(n) if rng.random() < share), rng.choice([2, 112_288, 6_000_000])


@pytest.mark.long
def test_counts_of_triangles_are_the_sums_of_products_on_random_answers() -> None:
    for number, (n, yes, below) in enumerate(random_answers(1)):
        check(n, yes, below, 3, [number % n, (number * 7) % n])


@pytest.mark.long
def test_counts_of_four_cliques_are_the_sums_of_products_on_random_answers() -> None:
    for number, (n, yes, below) in enumerate(random_answers(2)):
        if number < 40:
            check(n, yes, below, 4, [number % n])


@pytest.mark.parametrize(("n", "share"), [(64, 0.5), (65, 0.1), (130, 0.03), (200, 0.4)])
def test_what_is_counted_in_the_answers_agrees_with_matrices(n: int, share: float) -> None:
    """A second way to count, and both ways to common neighbours: few answers are walked, many are met by rows."""
    rng = np.random.default_rng(n)
    matrix = np.triu(rng.random((n, n)) < share, 1)
    x, y = np.nonzero(matrix)
    answers = AnsweredPairs.of_parts(n, [np.column_stack((x, y))])
    H = (matrix | matrix.T).astype(np.int64)  # noqa: N806
    d, common = H.sum(axis=0), H @ H
    assert np.array_equal(answers.degrees(), d)
    assert np.array_equal(answers.triangles(), (H * common).sum(axis=0) // 2)
    assert np.array_equal(answers.around(d - 1), H @ (d - 1))
    fours, beside = answers.cliques()
    near = [np.ix_(np.flatnonzero(H[w]), np.flatnonzero(H[w])) for w in range(n)]
    assert beside.tolist() == [int((H[at] * (common[at] - 1)).sum() // 2) for at in near]
    assert fours.tolist() == [int(np.trace(H[at] @ H[at] @ H[at]) // 6) for at in near]
    for w, sums in enumerate(answers.paths().tolist()):
        others = [y for y in range(n) if y != w]
        expected = [0] * 6
        for y in others:
            c = int(common[w, y])
            e = int(d[y] - c - H[w, y])
            at = 0 if H[w, y] else 3
            for i, value in enumerate((math.comb(c, 2), c * e, math.comb(e, 2))):
                expected[at + i] += value
        assert sums == expected


@pytest.mark.parametrize("k", [3, 4])
def test_counts_are_unbiased_over_all_graphs_of_four_vertices(k: int) -> None:
    below = 3_000_000
    f = F(below, COINS)
    results = {yes: estimates(4, yes, below, k) for yes in all_graphs(4)}
    for graph in all_graphs(4):
        truth = naive.graph_of(graph, isolated=range(4))
        chances = {yes: naive.answers_probability(truth, naive.graph_of(yes, isolated=range(4)), f) for yes in results}
        counts = naive.clique_counts(truth, k)
        for w in range(4):
            mean = sum(float(chance) * results[yes].counts[w] for yes, chance in chances.items())
            assert math.isclose(mean, counts[w], abs_tol=1e-9)
            mean = sum(float(chance) * results[yes].degrees[w] for yes, chance in chances.items())
            assert math.isclose(mean, len(truth[w]), abs_tol=1e-9)


def test_the_variances_are_those_of_the_closed_forms_over_all_graphs_of_four_vertices() -> None:
    f = F(3, 10)
    every = [naive.graph_of(pairs, isolated=range(4)) for pairs in all_graphs(4)]
    counts = {i: [naive.counts_from_answers(yes, 3, f, w) for w in range(4)] for i, yes in enumerate(every)}
    for graph in every:
        chances = [naive.answers_probability(graph, yes, f) for yes in every]
        for w in range(4):
            assert variance(chances, [counts[i][w] for i in counts]) == naive.variance_of_triangles(graph, f, w)
        totals = [sum(counts[i], F(0)) / 3 for i in counts]
        assert variance(chances, totals) == naive.variance_of_all_triangles(graph, f)


def variance(chances: Sequence[Fraction], values: Sequence[Fraction]) -> Fraction:
    mean = sum((c * x for c, x in zip(chances, values, strict=True)), F(0))
    return sum((c * (x - mean) ** 2 for c, x in zip(chances, values, strict=True)), F(0))


@pytest.mark.parametrize("n", [2, 3, 6, 40])
def test_standard_errors_are_those_of_the_document(n: int) -> None:
    random_ones = [item for item in random_answers(3) if item[0] == n][:5]
    for _, yes, below in random_ones or [(n, (), 10**6), (n, ((0, 1),), 9)]:
        result = estimates(n, yes, below, 3)
        f = below / COINS
        v = f * (1 - f) / (1 - 2 * f) ** 2
        twin = naive.graph_of(yes, isolated=range(n))
        N, m_yes = math.comb(n, 2), len(yes)  # noqa: N806
        m = (m_yes - f * N) / (1 - 2 * f) + 2 * math.sqrt(N * v)
        sd = math.sqrt((n - 1) * v)
        d_plus = {w: min(max((len(twin[w]) - (n - 1) * f) / (1 - 2 * f), 0), n - 1) + 2 * sd for w in twin}
        mean = sum(d_plus.values()) / n
        for w in twin:
            d = len(twin[w])
            P = sum(len(twin[x]) - 1 for x in twin[w])  # noqa: N806
            unbiased = (P - f * (n - 2) * d - 2 * f * (m_yes - d) + f * f * (n - 1) * (n - 2)) / (1 - 2 * f) ** 2
            above = max(unbiased, 0) + 2 * math.sqrt(v * (2 * n * mean**2 + n * d_plus[w]) + v * v * n * n)
            squared = (
                v * (d_plus[w] * (d_plus[w] - 1) / 2 + d_plus[w] * above)
                + v * v * ((n - 2) * d_plus[w] + m - d_plus[w])
                + v**3 * math.comb(n - 1, 2)
            )
            assert math.isclose(result.errors[w], math.sqrt(max(squared, 0)), rel_tol=1e-9, abs_tol=1e-12)
        likely = naive.likely_errors(twin, F(below, COINS))
        for ours, squared in zip((result.error_of_total, result.error_of_a_count), likely, strict=True):
            assert math.isclose(ours, math.sqrt(squared), rel_tol=1e-9, abs_tol=1e-9)


def test_the_terms_of_the_estimated_errors_are_right_on_average_over_all_graphs_of_four_vertices() -> None:
    f = F(3, 10)
    every = [naive.graph_of(pairs, isolated=range(4)) for pairs in all_graphs(4)]
    terms = [naive.error_terms(yes, f) for yes in every]
    for graph in every:
        chances = [naive.answers_probability(graph, yes, f) for yes in every]
        squares = sum(len(graph[x] & graph[y]) ** 2 for x, y in combinations(graph, 2))
        truth = (squares, sum(math.comb(len(graph[x]), 2) for x in graph), sum(map(len, graph.values())) // 2)
        for term, true in enumerate(truth):
            assert sum((c * each[term] for c, each in zip(chances, terms, strict=True)), F(0)) == true


def test_a_sample_of_pairs_gives_nearly_the_same_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """300 vertices, one of which knows all others; a sample of 20,000 of 44,850 pairs is within 5 %."""
    below = round(COINS * 0.2)
    rng = random.Random(5)
    truth = {(0, y) for y in range(1, 300)} | {(x, y) for x, y in combinations(range(1, 300), 2) if rng.random() < 0.05}
    yes = tuple(pair for pair in combinations(range(300), 2) if (pair in truth) != (rng.random() < 0.2))
    whole = estimates(300, yes, below, 3)
    monkeypatch.setattr(answer_counts, "SAMPLED", 20_000)
    sampled = estimates(300, yes, below, 3)
    assert sampled.error_of_total != whole.error_of_total
    assert sampled.error_of_total == pytest.approx(whole.error_of_total, rel=0.05)
    assert sampled.error_of_a_count == pytest.approx(whole.error_of_a_count, rel=0.05)
    assert (sampled.counts, sampled.errors) == (whole.counts, whole.errors)


@pytest.mark.parametrize(("n", "below"), [(4, 3_000_000), (6, 3_000_000), (7, 6_000_000), (6, 112_288)])
def test_the_error_from_below_of_four_cliques_is_the_sum_whose_weights_are_larger_by_v(n: int, below: int) -> None:
    rng, f = random.Random(n), F(below, COINS)
    v = naive.answer_variance(f)
    for share in (0.3, 0.6, 0.9):
        yes = tuple(pair for pair in pairs_of(n) if rng.random() < share)
        twin = naive.graph_of(yes, isolated=range(n))
        part = F(0)
        for clique in combinations(range(n), 4):
            weights = [naive.debiased(twin, f, a, b) for a, b in combinations(clique, 2)]
            part += 4 * (math.prod(w + v for w in weights) - math.prod(weights)) / n
        expected = math.sqrt(max(v**6 * math.comb(n - 1, 3), part))
        assert math.isclose(estimates(n, yes, below, 4).error_of_a_count, expected, rel_tol=1e-2, abs_tol=1e-3)


# --- The coins


def test_coins_are_compared_as_integers_and_taken_in_the_order_of_the_pairs() -> None:
    mechanism = Respond(epsilon=3, n=5)
    a = mechanism.threshold
    assert a & 0xFF  # so that the last byte decides
    assert a >> 16
    for flipped in pairs_of(5):
        drawn = [a - 1 if pair == flipped else a for pair in pairs_of(5)]
        assert yes_pairs(mechanism.answered(facts(5, ()), coins(drawn))) == (flipped,)
        complete = yes_pairs(mechanism.answered(facts(5, pairs_of(5)), coins(drawn)))
        assert set(pairs_of(5)) - set(complete) == {flipped}


def test_as_many_bytes_are_drawn_whatever_the_graph_holds_and_none_after() -> None:
    sizes: dict[bool, list[int]] = {True: [], False: []}
    for full in sizes:
        rng = np.random.default_rng(5)

        def take(size: int, full: bool = full, rng: np.random.Generator = rng) -> bytes:
            sizes[full].append(size)
            return rng.bytes(size)

        source = SimulatedNoise(lambda scale, size: [0] * size, take)
        mechanism = Respond(epsilon=1, n=100)
        drawn = mechanism.draw(facts(100, pairs_of(100) if full else ()), source)
        assert drawn.scale is None
        assert source.draws == 0
    assert sizes[True] == sizes[False] == [3 * i for i in range(99, 0, -1)]
