"""What the attacker finds on the graph that comes with the package, against figures of an independent prototype."""

from __future__ import annotations

import math
from fractions import Fraction

import naive
import pytest
from lengths import usual_or_thorough
from outside_graphs import outside_graph

from pcneo.counting.counted import CountedGraph
from pcneo.face.first_steps import sample_path
from pcneo.graph import graph_from_edges
from pcneo.privacy.attack import Seen
from pcneo.privacy.mechanisms import MECHANISMS, Mechanism
from pcneo.privacy.noise import SimulatedNoise
from pcneo.privacy.randomised_response import Flips, threshold_of
from pcneo.release.audit.attacked import Attack, can_be_attacked, mean_errors, simulated
from pcneo.search import search_all

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def copenhagen() -> CountedGraph:
    rows = naive.read_edges(sample_path())
    pairs = [(a, b) for a in rows for b in rows[a] if a < b]
    return CountedGraph(graph_from_edges(rows, *zip(*pairs, strict=True)))


def by_answers_alone(facts: CountedGraph, epsilon: int, seed: int) -> float:
    """Of an attacker who leaves degrees and counts aside, as the prototype's did with `respond`."""
    n, noise = facts.vertex_count, SimulatedNoise.seeded(seed)
    flips = Flips(n, threshold_of(Fraction(epsilon)))
    answers = facts.answers(flips.below, noise.coins)
    return Attack(facts).of(Seen(n, float(epsilon), flips, answers.degrees()), answers).alone or 0.0


def shown(facts: CountedGraph, mechanism: Mechanism, seed: int, *, published: bool = False) -> float:
    (release,) = simulated(facts, mechanism, SimulatedNoise.seeded(seed), 1)
    return Attack(facts).of_release(release, published=published).alone or 0.0


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
    made = MECHANISMS[mechanism](epsilon=epsilon, n=copenhagen.vertex_count)
    measured = shown(copenhagen, made, epsilon)
    assert measured == pytest.approx(share, abs=0.03)
    assert measured > 1.15 * 6418 / math.comb(800, 2)  # guessing


def test_published_answers_show_more_with_degrees_and_counts_where_epsilon_is_small(copenhagen: CountedGraph) -> None:
    """Degrees and counts that are computed from the answers tell the attacker where connections are many."""
    made = MECHANISMS["respond"](epsilon=1, n=copenhagen.vertex_count)
    with_answers = shown(copenhagen, made, 1, published=True)
    assert with_answers > 1.5 * by_answers_alone(copenhagen, 1, seed=1)
    assert with_answers == pytest.approx(0.15, abs=0.03)


@pytest.mark.parametrize(("epsilon", "share"), [(2, 0.16), (3, 0.19), (5, 0.19)])
def test_where_answers_are_destroyed_counts_and_degrees_show_no_more_than_exact_ones(
    copenhagen: CountedGraph, epsilon: int, share: float
) -> None:
    made = MECHANISMS["respond"](epsilon=epsilon, n=copenhagen.vertex_count)
    assert shown(copenhagen, made, epsilon) == pytest.approx(share, abs=0.02)


def test_exact_counts_guessing_and_a_total_alone(copenhagen: CountedGraph) -> None:
    attack, n = Attack(copenhagen), copenhagen.vertex_count
    guessing = attack.of(Seen(n)).alone
    assert guessing == pytest.approx(6_418 / (800 * 799 / 2))
    assert attack.of(Seen(n, counts=copenhagen.counts(3))).alone == pytest.approx(0.19, abs=0.01)
    assert 0.1 < (attack.of(Seen(n, degrees=copenhagen.degrees())).alone or 0) < 0.25
    total = MECHANISMS["total"](epsilon=3, n=n)
    assert shown(copenhagen, total, 1) == guessing
    errors = mean_errors(copenhagen, simulated(copenhagen, total, SimulatedNoise.seeded(1), 1))
    assert (errors.count, errors.biased) == (None, {})


def test_sizes_of_groups_owners_and_what_bounds_degrees_show_what_sharing_a_group_does_not() -> None:
    """Celegans at ε = 1: 37 % of the connections for who knows whether two share a group, 52 % for who knows all."""
    rows = naive.read_edges(outside_graph("celegans_metabolic.edges.gz"))
    graph = graph_from_edges(rows, *zip(*[(a, b) for a in rows for b in rows[a] if a < b], strict=True))
    facts = CountedGraph(graph, search_all(graph, "0.1", "density"))
    assert Attack(facts).of(Seen(graph.vertex_count)).with_groups == pytest.approx(0.52, abs=0.01)
    made = MECHANISMS["critical"](epsilon=1, n=graph.vertex_count)
    (release,) = simulated(facts, made, SimulatedNoise.seeded(1), 1)
    found = Attack(facts).of_release(release)
    assert found.with_groups == pytest.approx(0.55, abs=0.02)
    assert found.protected == pytest.approx(0.95, abs=0.02)


def test_more_is_found_with_a_larger_epsilon_and_all_in_the_end(copenhagen: CountedGraph) -> None:
    shares = [
        shown(copenhagen, MECHANISMS["respond"](epsilon=e, n=800), 7, published=True)
        for e in usual_or_thorough(("0.5", 2, 16), ("0.5", 1, 2, 4, 8, 16))
    ]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.parametrize(("n", "can"), [(0, False), (1, False), (2, True), (10_000, True), (10_001, False)])
def test_graphs_with_too_many_pairs_are_not_attacked(n: int, can: bool) -> None:
    assert can_be_attacked(n) == can
