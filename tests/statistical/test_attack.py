"""What the attacker finds on the graph that comes with the package, against figures of a prototype by another hand."""

from __future__ import annotations

import math
from fractions import Fraction

import naive
import pytest
from lengths import usual_or_thorough

from pcneo.cli.sample import copenhagen_friends_path
from pcneo.counting.counted import CountedGraph
from pcneo.errors import ParameterError
from pcneo.graph import graph_from_edges
from pcneo.privacy.attack import Seen
from pcneo.privacy.mechanisms import MECHANISMS
from pcneo.privacy.noise import SimulatedNoise
from pcneo.privacy.randomised_response import Flips, threshold_of
from pcneo.release.audit import attacked
from pcneo.release.audit.attacked import attack_exact, attack_release, check_attackable

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def copenhagen() -> CountedGraph:
    rows = naive.read_edges(copenhagen_friends_path())
    pairs = [(a, b) for a in rows for b in rows[a] if a < b]
    return CountedGraph(graph_from_edges(rows, *zip(*pairs, strict=True)))


def by_answers_alone(facts: CountedGraph, epsilon: int, seed: int) -> float:
    """Of an attacker who leaves degrees and counts aside, as the prototype's did with `respond`."""
    n, noise = facts.vertex_count, SimulatedNoise.seeded(seed)
    flips = Flips(n, threshold_of(Fraction(epsilon)))
    answers = facts.answers(flips.below, noise.coins)
    return attacked._share(facts, Seen(n, float(epsilon), flips, answers.degrees()), answers, None)


@pytest.mark.parametrize(("epsilon", "share"), [(1, 0.08), (2, 0.35), (3, 0.66), (5, 0.91), (10, 1.0)])
def test_answers_alone_show_what_the_prototype_found(copenhagen: CountedGraph, epsilon: int, share: float) -> None:
    """Of 6,418 pairs a share has a standard error of at most 0.006; the figures are rounded to 0.01."""
    assert by_answers_alone(copenhagen, epsilon, seed=epsilon) == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "share"),
    [
        ("edge", 1, 0.03),
        ("edge", 3, 0.10),
        ("edge", 5, 0.14),
        ("edge", 10, 0.17),
    ],
)
def test_other_mechanisms_show_what_the_prototype_found(
    copenhagen: CountedGraph, mechanism: str, epsilon: int, share: float
) -> None:
    made = MECHANISMS[mechanism].make(epsilon=epsilon, n=copenhagen.vertex_count)
    measured = attack_release(copenhagen, made, SimulatedNoise.seeded(epsilon)).share
    assert measured == pytest.approx(share, abs=0.03)
    assert measured > 1.15 * 6418 / math.comb(800, 2)  # guessing


def test_respond_shows_more_than_its_answers_alone_where_epsilon_is_small(copenhagen: CountedGraph) -> None:
    """Degrees and counts that are computed from the answers tell the attacker where connections are many."""
    made = MECHANISMS["respond"].make(epsilon=1, n=copenhagen.vertex_count)
    shown = attack_release(copenhagen, made, SimulatedNoise.seeded(1)).share
    assert shown > 1.5 * by_answers_alone(copenhagen, 1, seed=1)
    assert shown == pytest.approx(0.15, abs=0.03)


def test_exact_counts_guessing_and_a_total_alone(copenhagen: CountedGraph) -> None:
    exact = attack_exact(copenhagen, 3)
    assert exact.guessing == pytest.approx(6_418 / (800 * 799 / 2))
    assert exact.counts == pytest.approx(0.19, abs=0.01)
    assert 0.1 < exact.degrees < 0.25
    total = MECHANISMS["total"].make(epsilon=3, n=copenhagen.vertex_count)
    figures = attack_release(copenhagen, total, SimulatedNoise.seeded(1))
    assert (figures.share, figures.with_groups, figures.error, figures.biased_errors) == (
        exact.guessing,
        None,
        None,
        {},
    )


def test_more_is_found_with_a_larger_epsilon_and_all_in_the_end(copenhagen: CountedGraph) -> None:
    shares = [
        attack_release(copenhagen, MECHANISMS["respond"].make(epsilon=e, n=800), SimulatedNoise.seeded(7)).share
        for e in usual_or_thorough(("0.5", 2, 16), ("0.5", 1, 2, 4, 8, 16))
    ]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.parametrize("n", [0, 1, 10_001, 10**6])
def test_graphs_with_too_many_pairs_are_refused_by_the_number_of_vertices(n: int) -> None:
    with pytest.raises(ParameterError, match="2 to 10,000 vertices"):
        check_attackable(n)
    check_attackable(10_000)
    check_attackable(2)
