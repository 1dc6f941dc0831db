"""Do counts from answers about pairs inside groups vary as the exact variance predicts? Size and power are stated."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from pcneo.counting.counted import CountedGraph
from pcneo.face.first_steps import sample_path
from pcneo.graph import graph_from_edges
from pcneo.privacy.mechanisms import Critical
from pcneo.privacy.noise import ReleaseNoise
from pcneo.search import search_all

TRUTH = (0.0, 1.0, 1.0)
RELEASES = 400


@cache
def students() -> CountedGraph:
    edges = np.loadtxt(sample_path(), np.int64, comments="#")
    graph = graph_from_edges(np.unique(edges), edges[:, 0], edges[:, 1])
    return CountedGraph(graph, search_all(graph, "0.1", "density"))


def test_four_hundred_releases_on_the_students_err_as_the_exact_variance_says() -> None:
    """ε=1, p=0.1, before rounding: means within 6.5 standard errors, mean squared error over variance in 0.95..1.05.

    800 means of 400 releases each are all within 6.5 standard errors but for 1e-7 if they are normal; with a skewness
    of 1.5 for each release, 0.075 for a mean, but for 1e-6. Left out, the term v² of the variance would move the ratio
    by more than 0.1.
    """
    facts, noise = students(), ReleaseNoise()
    mechanism = Critical(epsilon=1, n=facts.vertex_count)
    graph = facts.protected_graph()
    (exact,) = graph.triangles(graph.connected, [TRUTH], mechanism.flips.variance)
    counts, totals, estimates = facts.counts(3), [], []
    assert np.allclose(exact.sums, counts)
    sums, squares = np.zeros(len(counts)), np.zeros(len(counts))
    for _ in range(RELEASES):
        drawn, variances = mechanism.unrounded(mechanism.answered(facts, noise), facts)
        assert variances is not None
        sums += drawn
        squares += (drawn - counts) ** 2
        totals.append(drawn.sum() / 3)
        estimates.append(variances.mean())
    spread = exact.variances > 0
    assert (sums[~spread] == RELEASES * counts[~spread]).all()
    assert (np.abs(sums / RELEASES - counts) <= 6.5 * np.sqrt(exact.variances / RELEASES) + 1e-9).all()
    assert 0.95 <= (squares[spread] / RELEASES / exact.variances[spread]).mean() <= 1.05
    of_total = exact.variance_of_total
    assert abs(np.mean(totals) - counts.sum() / 3) <= 5 * math.sqrt(of_total / RELEASES)
    # χ² of 400 degrees of freedom is within a factor of 1.6 of them, but for 1e-9.
    assert 1 / 1.6 <= np.var(totals) / of_total <= 1.6
    # The estimate that is published is right on average: within 5 of its own standard errors.
    off = np.mean(estimates) - exact.variances.mean()
    assert abs(off) <= 5 * np.std(estimates) / math.sqrt(RELEASES)


def test_as_many_answers_are_flipped_as_epsilon_says_and_two_releases_share_no_coins() -> None:
    """5,002 answers at ε=1: 4.9 standard deviations, 1e-6. Two releases differ in 2f(1-f) of them."""
    facts, noise = students(), ReleaseNoise()
    mechanism = Critical(epsilon=1, n=facts.vertex_count)
    first, second = (mechanism.answered(facts, noise).yes for _ in range(2))
    pairs, f = len(first), mechanism.flips.f
    for said, chance in ((first ^ facts.protected_graph().connected, f), (first ^ second, 2 * f * (1 - f))):
        assert abs(said.sum() - chance * pairs) <= 4.9 * math.sqrt(pairs * chance * (1 - chance))


@pytest.mark.parametrize("k", [3, 4])
def test_the_errors_for_the_owner_are_those_of_releases(k: int) -> None:
    """Of the total over 200 releases: exact for k = 3 (a factor of 1.3 but for 1e-6), from 8 simulations for k = 4."""
    facts, noise = students(), ReleaseNoise()
    mechanism = Critical(k=k, epsilon=2, n=facts.vertex_count)
    figures = mechanism.owner_figures(facts)
    total = facts.counts(k).sum() / k
    off = [mechanism.unrounded(mechanism.answered(facts, noise), facts)[0].sum() / k - total for _ in range(200)]
    ratio = figures["standardErrorOfTotal"] / math.sqrt(np.mean(np.square(off)))  # type: ignore[operator]
    factor = 1.3 if k == 3 else 1.5
    assert 1 / factor <= ratio <= factor
