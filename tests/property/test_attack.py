"""The attacker against an obvious twin that ranks all pairs one by one (GUARANTEE.md#the-attacker)."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from pcneo.basics.model import CohesionBatch
from pcneo.basics.searches import Search
from pcneo.counting.answers import AnsweredPairs
from pcneo.counting.counted import CountedGraph
from pcneo.graph import graph_from_edges
from pcneo.privacy.attack import Seen, blocks
from pcneo.privacy.mechanisms import Critical
from pcneo.privacy.noise import SimulatedNoise
from pcneo.privacy.randomised_response import COINS, Flips
from pcneo.release.audit.attacked import Attack, Found, simulated

Pairs = set[tuple[int, int]]


Groups = list[set[int]]
"""The group of each vertex, which is its owner."""


def ranked(pairs, score, connected, m) -> float:
    """The share of connections among the m best pairs; of equal scores the average counts."""
    last = sorted(score.values(), reverse=True)[m - 1]
    above = [pair for pair in pairs if score[pair] > last + 1e-9]
    level = [pair for pair in pairs if abs(score[pair] - last) <= 1e-9]
    hits = sum(pair in connected for pair in above)
    return (hits + (m - len(above)) * sum(pair in connected for pair in level) / len(level)) / m


def twin(n, m, connected, epsilon=0.0, f=0.0, yes=None, degrees=None, counts=None) -> tuple[float, set]:
    """The best share over all weights, each pair scored by itself, and which weights have it."""
    pairs = list(combinations(range(n), 2))
    if yes is degrees is counts is None:
        return m / len(pairs), set()
    shares = {}
    for alpha, beta, gamma in product((0, 0.25, 0.5, 1, 2, 4), (0, 0.5, 1), (0, 0.3)):
        if (alpha and yes is None) or (beta and degrees is None) or (gamma and counts is None):
            continue
        if yes is None and not (beta or gamma):
            continue
        score = scores(n, (alpha, beta, gamma), epsilon, f, yes, degrees, counts)
        shares[alpha, beta, gamma] = ranked(pairs, score, connected, m)
    best = max(shares.values())
    return best, {weights for weights, share in shares.items() if share == pytest.approx(best)}


def scores(n, weights, epsilon, f, yes, degrees, counts) -> dict[tuple[int, int], float]:
    alpha, beta, gamma = weights
    pairs = list(combinations(range(n), 2))
    z = dict.fromkeys(pairs, 0.0)
    if yes is not None and alpha:

        def entry(a: int, b: int) -> float:
            return 0.0 if a == b else ((min(a, b), max(a, b)) in yes) * 1 / (1 - 2 * f) - f / (1 - 2 * f)

        v = f * (1 - f) / (1 - 2 * f) ** 2
        rows = [max(1.0, sum(entry(a, b) for b in range(n))) for a in range(n)]
        for a, b in pairs:
            squared = sum(entry(a, c) * entry(c, b) for c in range(n))
            z[a, b] = squared / math.sqrt(n * v**2 + v * (rows[a] + rows[b]) + 0.5)
    return {
        (a, b): (epsilon or 0) * (yes is not None and (a, b) in yes)
        + alpha * z[a, b]
        + (beta * math.log(max(degrees[a], 1) * max(degrees[b], 1)) if beta and degrees else 0)
        + (gamma * math.log(max(counts[a], 1) * max(counts[b], 1)) if gamma and counts else 0)
        for a, b in pairs
    }


def twin_with_groups(n, connected, groups: Groups, p: Fraction, best, *, protected, **seen) -> float:
    """The same for somebody who knows the groups: how small they are, whose they are, and what bounds degrees."""
    inside = {pair for pair in combinations(range(n), 2) if any(set(pair) <= group for group in groups)}
    pairs = sorted(inside) if protected else list(combinations(range(n), 2))
    connected = connected & set(pairs)
    bounds = [math.floor((len(group) - 1) / p) for group in groups]
    given = seen.get("degrees")
    degrees = bounds if given is None else [min(d, bound) for d, bound in zip(given, bounds, strict=True)]
    most = 0.0
    for alpha, beta, gamma in {(a, b, c) for a, _, c in [*best, (0, 0, 0)] for b in (0, 0.5, 1)}:
        epsilon, f, yes, counts = map(seen.get, ("epsilon", "f", "yes", "counts"))
        base = scores(n, (alpha, beta, gamma), epsilon, f, yes, degrees, counts)
        for eta, theta, omega in product((0, 2), (0, 0.5, 1, 2), (0, 1, 2)):
            score = {}
            for a, b in pairs:
                sizes = [len(group) for group in groups if {a, b} <= group]
                of_groups = eta + theta * math.log(n / max(min(sizes) - 1, 1)) if sizes else 0
                score[a, b] = base[a, b] + of_groups + omega * ((b in groups[a]) + (a in groups[b]))
            most = max(most, ranked(pairs, score, connected, len(connected)))
    return most


def graph_of(n: int, connected: Pairs, groups: Groups | None = None, p: str = "1/3") -> CountedGraph:
    graph = graph_from_edges(list(range(n)), *map(list, zip(*sorted(connected), strict=True)))
    if groups is None:
        return CountedGraph(graph)
    members = [sorted(group) for group in groups]
    offsets = np.cumsum([0, *map(len, members)])
    return CountedGraph(
        graph,
        CohesionBatch(
            search=Search(p, "density"),
            vertices=np.arange(n),
            offsets=offsets,
            members=np.array([v for group in members for v in group], np.uint32),
            edges=np.zeros(n, np.int64),
            keys=graph.keys,
            proven=np.zeros(n, np.bool_),
            best=np.zeros(n, np.bool_),
        ),
    )


def shipped(n: int, connected: Pairs, yes: Pairs | None = None, groups: Groups | None = None, **seen: Any) -> Found:
    answers = None
    if yes is not None:
        ends = np.array(sorted(yes), np.int64).reshape(-1, 2)
        answers = AnsweredPairs.of_parts(n, [ends])
        seen["answered"] = answers.degrees()
    return Attack(graph_of(n, connected, groups)).of(Seen(n, **seen), answers)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("has", ["answers", "answers degrees counts", "answers counts", "counts", "degrees counts", ""])
def test_the_attacker_finds_what_its_twin_finds(seed: int, has: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(f"{seed} {has}")
    monkeypatch.setattr("pcneo.privacy.attack._HELD", rng.choice([1, 30, 1000]))  # blocks of one vertex, some, all
    n, chance = rng.randint(4, 12), rng.random()
    pairs = list(combinations(range(n), 2))
    connected: Pairs = {pair for pair in pairs if rng.random() < chance} or {pairs[0]}
    below = rng.randint(2, COINS // 2 - 2**20)
    given, twins = {}, {}
    if "answers" in has:
        yes = {pair for pair in pairs if (pair in connected) != (rng.random() < below / COINS)}
        given |= {"yes": yes, "epsilon": rng.random() * 5, "flips": Flips(n, below)}
        twins |= {"yes": yes, "epsilon": given["epsilon"], "f": below / COINS}
    for name in ("degrees", "counts"):
        if name in has:
            given[name] = twins[name] = [rng.randint(-3, 9) for _ in range(n)]
    groups = [{v, *rng.sample(range(n), rng.randint(1, 3))} for v in range(n)]
    found = shipped(n, connected, groups=groups, **given)
    best, ways = twin(n, len(connected), connected, **twins)
    assert found.alone == pytest.approx(best, abs=1e-9)

    # Of equally good weights the attacker goes on with one; the twin tries them all.
    every = [
        twin_with_groups(n, connected, groups, Fraction(1, 3), [way], protected=False, **twins)
        for way in ways or [(0, 0, 0)]
    ]
    assert any(found.with_groups == pytest.approx(share, abs=1e-9) for share in every)
    if any(set(pair) <= group for group in groups for pair in connected):
        every = [
            twin_with_groups(n, connected, groups, Fraction(1, 3), [way], protected=True, **twins)
            for way in ways or [(0, 0, 0)]
        ]
        assert any(found.protected == pytest.approx(share, abs=1e-9) for share in every)


def test_equal_scores_count_on_average_and_in_whatever_order_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    n, connected = 9, {(0, 1), (0, 2), (5, 6)}
    counts = [4, 4, 4, 1, 1, 1, 1, 1, 1]  # three pairs lead, two of them connected
    for held in (1, 18, 36, 90):
        monkeypatch.setattr("pcneo.privacy.attack._HELD", held)
        assert shipped(n, connected, counts=counts).alone == pytest.approx(2 / 3)
    assert shipped(n, connected, counts=[1] * 9).alone == pytest.approx(3 / 36)
    assert shipped(n, connected).alone == pytest.approx(3 / 36)


def test_who_has_the_truth_finds_all_of_it() -> None:
    n, connected = 12, {(a, b) for a, b in combinations(range(12), 2) if (a * b) % 5 == 2}
    assert shipped(n, connected, epsilon=16.0, flips=Flips(n, 2), yes=connected).alone == 1.0
    others = set(combinations(range(n), 2)) - connected
    assert (shipped(n, connected, epsilon=16.0, flips=Flips(n, 2), yes=others).alone or 0) < 0.2


def test_groups_of_two_alone_show_their_connections() -> None:
    n, connected = 8, {(0, 1), (2, 3), (4, 5), (6, 7)}
    groups = [{v, v ^ 1} for v in range(n)]
    found = shipped(n, connected, groups=groups)
    assert (found.alone, found.with_groups, found.protected) == (pytest.approx(4 / 28), 1.0, 1.0)
    assert shipped(n, connected) == Found(4 / 28, None, None)


def test_answers_of_pairs_inside_groups_are_held_against_those_pairs() -> None:
    """What `critical` publishes where its answers are: at an ε of 16 they are the truth, and P̂ is public with them."""
    n, connected = 9, {(0, 1), (0, 2), (3, 4), (5, 6), (7, 8)}
    facts = graph_of(n, connected, [{0, 1, 2, 3} if v < 4 else {v, 4, 5, 6} for v in range(n)])
    made = Critical(epsilon=16, n=n)
    (release,) = simulated(facts, made, SimulatedNoise(lambda *_: []), 1)  # coins of 255: nothing is flipped
    published = Attack(facts).of_release(release, published=True)
    assert (published.alone, published.protected) == (None, 1.0)
    assert (Attack(facts).of_release(release).alone or 0) < 1


def test_blocks_hold_every_vertex_once_and_not_too_many_pairs() -> None:
    for n in (2, 3, 1_999, 10_000):
        ranges = list(blocks(n))
        assert [first for first, _ in ranges] == [0, *(last for _, last in ranges[:-1])]
        assert ranges[-1][1] == n
        assert all((last - first) * n <= 200_000 for first, last in ranges)
