"""Does randomised response, as a release draws it, do what its proofs assume? Tests state their size and power."""

from __future__ import annotations

import math
import os
from fractions import Fraction
from typing import Any

import naive
import numpy as np
import pytest

from pcneo.counting.answers import AnsweredPairs
from pcneo.counting.counted import CountedGraph
from pcneo.face.first_steps import sample_path
from pcneo.graph import graph_from_edges
from pcneo.privacy.answer_counts import estimate
from pcneo.privacy.mechanisms import Respond
from pcneo.privacy.noise import ReleaseNoise

F = Fraction


def answered(mechanism: Respond, facts: CountedGraph) -> AnsweredPairs:
    answers: Any = mechanism.answered(facts, ReleaseNoise())
    return answers


@pytest.mark.long
def test_as_many_answers_are_flipped_as_epsilon_says() -> None:
    """10^8 pairs, ε=5. Size 1e-6: 4.9 standard deviations. An f that is off by 1 % is found with power above 0.999."""
    n = 14_143
    mechanism = Respond(epsilon=5, n=n)
    answers = answered(mechanism, CountedGraph(graph_from_edges(range(n), [0], [1])))
    pairs, f = math.comb(n, 2), float(naive.flip_chance(F(5)))
    assert pairs > 10**8
    deviation = math.sqrt(pairs * f * (1 - f))
    flips = answers.yes_count  # but for one connection
    assert abs(flips - f * pairs) <= 4.9 * deviation + 1
    assert 0.01 * f * pairs > (4.9 + 3.2) * deviation
    # Flips are spread as coins are: the degrees' variance is that of a binomial distribution, within 8 %.
    spread = answers.degrees().var() / ((n - 1) * f * (1 - f))
    assert abs(spread - 1) < 0.08


def test_two_releases_share_no_coins() -> None:
    """Of 4,950 answers about two graphs without connections, at ε=0.001, half agree: 5 standard deviations, 1e-6."""
    mechanism, facts = Respond(epsilon="0.001", n=100), CountedGraph(graph_from_edges(range(100), [], []))
    first, second = (answered(mechanism, facts).rows for _ in range(2))
    different = int(np.bitwise_count(first ^ second).sum()) // 2
    assert abs(different - 2475) <= 5 * math.sqrt(4950) / 2


def test_the_coins_are_the_systems_own(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    draw = os.urandom

    def watched(size: int) -> bytes:
        sizes.append(size)
        return draw(size)

    monkeypatch.setattr(os, "urandom", watched)
    answered(Respond(epsilon=1, n=50), CountedGraph(graph_from_edges(range(50), [], [])))
    assert sum(sizes) == 3 * math.comb(50, 2)


@pytest.mark.long
def test_four_hundred_releases_on_copenhagen_are_as_the_exact_variance_says() -> None:
    """ε=3. Means of 800 vertices within 8 standard errors of the truth: their tails are heavier than normal ones.

    The mean squared error over the exact variance lies in 0.95..1.05; an estimator whose last term, -f³·C(n-1, 2), is
    left out misses by hundreds of standard errors.
    """
    graph = naive.read_edges(sample_path())
    index = {v: i for i, v in enumerate(sorted(graph))}
    pairs = [(index[a], index[b]) for a in graph for b in graph[a] if a < b]
    n, releases = len(graph), 400
    facts = CountedGraph(graph_from_edges(range(n), *zip(*pairs, strict=True)))
    mechanism = Respond(epsilon=3, n=n)
    truth = facts.counts(3)
    exact = np.array([float(naive.variance_of_triangles(graph, naive.flip_chance(F(3)), v)) for v in sorted(graph)])
    sums, squares, covered, totals, said = np.zeros(n), np.zeros(n), np.zeros(n), [], []
    for _ in range(releases):
        result = estimate(answered(mechanism, facts), mechanism.flips, 3)
        counts = np.array(result.counts)
        sums += counts
        squares += (counts - truth) ** 2
        covered += np.abs(counts - truth) <= 1.96 * np.array(result.errors)
        totals.append(result.total)
        said.append((result.error_of_total, result.error_of_a_count))
    assert (np.abs(sums / releases - truth) <= 8 * np.sqrt(exact / releases)).all()
    assert 0.95 <= (squares / releases / exact).mean() <= 1.05
    assert covered.mean() / releases >= 0.95
    of_total = float(naive.variance_of_all_triangles(graph, naive.flip_chance(F(3))))
    # Each time, what is said of the errors is within 6 % of the truth; the upper estimates beside single counts are
    # nearly three times as large.
    true_errors = math.sqrt(of_total), math.sqrt(exact.mean())
    assert (np.abs(np.array(said) / true_errors - 1) < 0.06).all()
    mean = np.mean(totals)
    assert abs(mean - truth.sum() / 3) <= 6.5 * math.sqrt(of_total / releases)
    # χ² of 400 degrees of freedom is within a factor of 1.6 of them, but for 1e-9.
    assert 1 / 1.6 <= np.var(totals) / of_total <= 1.6
