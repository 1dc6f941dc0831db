"""The attacker against an obvious twin that ranks all pairs one by one (GUARANTEE.md#the-attacker)."""

from __future__ import annotations

import math
import random
from itertools import combinations, product

import numpy as np
import pytest

from pcneo.counting.answers import AnsweredPairs
from pcneo.privacy.attack import Attacker, Block, Seen, blocks
from pcneo.privacy.randomised_response import COINS, Flips

Pairs = set[tuple[int, int]]


def twin(n, m, connected, epsilon=0.0, f=0.0, yes=None, degrees=None, counts=None, together=None) -> float:
    """The best share over all weights, each pair scored by itself; ties broken evenly."""
    pairs = list(combinations(range(n), 2))
    z = dict.fromkeys(pairs, 0.0)
    if yes is not None:

        def entry(a: int, b: int) -> float:
            return 0.0 if a == b else ((min(a, b), max(a, b)) in yes) * 1 / (1 - 2 * f) - f / (1 - 2 * f)

        v = f * (1 - f) / (1 - 2 * f) ** 2
        rows = [max(1.0, sum(entry(a, b) for b in range(n))) for a in range(n)]
        for a, b in pairs:
            squared = sum(entry(a, c) * entry(c, b) for c in range(n))
            z[a, b] = squared / math.sqrt(n * v**2 + v * (rows[a] + rows[b]) + 0.5)
    best = m / len(pairs) if yes is degrees is counts is together is None else 0.0
    for alpha, beta, gamma, eta in product((0, 0.25, 0.5, 1, 2, 4), (0, 0.5, 1), (0, 0.3), (0, 1, 2, 4)):
        if (
            (alpha and yes is None)
            or (beta and degrees is None)
            or (gamma and counts is None)
            or (eta and together is None)
        ):
            continue
        if yes is None and not (beta or gamma or eta):
            continue
        score = {
            (a, b): (epsilon or 0) * (yes is not None and (a, b) in yes)
            + alpha * z[a, b]
            + (beta * math.log(max(degrees[a], 1) * max(degrees[b], 1)) if beta and degrees else 0)
            + (gamma * math.log(max(counts[a], 1) * max(counts[b], 1)) if gamma and counts else 0)
            + eta * (together is not None and (a, b) in together)
            for a, b in pairs
        }
        ordered = sorted(score.values(), reverse=True)
        last = ordered[m - 1]
        above = [pair for pair in pairs if score[pair] > last + 1e-9]
        level = [pair for pair in pairs if abs(score[pair] - last) <= 1e-9]
        hits = sum(pair in connected for pair in above)
        hits += (m - len(above)) * sum(pair in connected for pair in level) / len(level)
        best = max(best, hits / m)
    return best


def shipped(
    n: int,
    m: int,
    connected: Pairs,
    epsilon: float | None = None,
    flips: Flips | None = None,
    yes: Pairs | None = None,
    degrees: list[int] | None = None,
    counts: list[int] | None = None,
    together: Pairs | None = None,
    step: int = 3,
) -> float:
    def matrix(some: Pairs) -> np.ndarray:
        return np.array([[(min(a, b), max(a, b)) in some for b in range(n)] for a in range(n)])

    answers = None
    if yes is not None:
        ends = np.array(sorted(yes), np.int64).reshape(-1, 2)
        answers = AnsweredPairs.of_pairs(n, ends[:, 0], ends[:, 1])
    seen = Seen(
        vertices=n,
        epsilon=epsilon,
        flips=flips,
        answered=None if answers is None else answers.degrees(),
        degrees=degrees,
        counts=counts,
        grouped=together is not None,
    )
    attacker = Attacker(seen, m)
    truth = matrix(connected)
    answered, grouped = (None if some is None else matrix(some) for some in (yes, together))
    for first in range(0, n, step):
        last = min(n, first + step)
        x, y = np.nonzero(np.arange(n) > np.arange(first, last)[:, None])
        shared = None if answers is None else answers.shared(first, last)
        at = slice(first, last)
        attacker.look(
            Block(
                x + first,
                y,
                truth[at][x, y],
                None if answered is None else answered[at][x, y],
                None if shared is None else shared[x, y],
                None if grouped is None else grouped[at][x, y],
            )
        )
    return attacker.share


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "has",
    [
        "answers",
        "answers degrees counts",
        "answers counts groups",
        "counts",
        "degrees counts",
        "groups counts",
        "groups",
        "",
    ],
)
def test_the_attacker_finds_what_its_twin_finds(seed: int, has: str) -> None:
    rng = random.Random(f"{seed} {has}")
    n, chance = rng.randint(2, 14), rng.random()
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
    if "groups" in has:
        given["together"] = twins["together"] = {pair for pair in pairs if rng.random() < 0.4}
    m = len(connected)
    assert shipped(n, m, connected, **given) == pytest.approx(twin(n, m, connected, **twins), abs=1e-9)


def test_equal_scores_count_on_average_and_in_whatever_order_they_come() -> None:
    n, connected = 9, {(0, 1), (0, 2), (5, 6)}
    counts = [4, 4, 4, 1, 1, 1, 1, 1, 1]  # three pairs lead, two of them connected
    for step in (1, 2, 4, 9):
        assert shipped(n, 3, connected, counts=counts, step=step) == pytest.approx(2 / 3)
    assert shipped(n, 3, connected, counts=[1] * 9) == pytest.approx(3 / 36)
    assert shipped(n, 3, connected) == pytest.approx(3 / 36)


def test_whoever_has_the_truth_finds_all_of_it() -> None:
    n, connected = 12, {(a, b) for a, b in combinations(range(12), 2) if (a * b) % 5 == 2}
    assert shipped(n, len(connected), connected, epsilon=16.0, flips=Flips(n, 2), yes=connected) == 1.0
    others = set(combinations(range(n), 2)) - connected
    assert shipped(n, len(connected), connected, epsilon=16.0, flips=Flips(n, 2), yes=others) < 0.2


def test_blocks_hold_every_vertex_once_and_not_too_many_pairs() -> None:
    for n in (2, 3, 1_999, 10_000):
        ranges = list(blocks(n))
        assert [first for first, _ in ranges] == [0, *(last for _, last in ranges[:-1])]
        assert ranges[-1][1] == n
        assert all((last - first) * n <= 200_000 for first, last in ranges)
