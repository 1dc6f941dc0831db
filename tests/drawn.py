"""Made-up cohesions for pictures."""

from __future__ import annotations

import itertools
import random
from datetime import UTC, datetime
from fractions import Fraction

from pcneo.basics.model import FoundCohesion, LocalView, ShownCohesion
from pcneo.basics.run_record import RunRecord
from pcneo.basics.searches import Search


def shown(hops: list[int], others: int, *, score: str = "density", text: bool = False, seed: int = 1) -> ShownCohesion:
    """A cohesion of a vertex and one member for each entry of `hops`, connected at random."""
    draw = random.Random(seed)
    name = (lambda i: f"person {i:04}") if text else (lambda i: i)
    keys = [name(i) for i in range(len(hops) + 1)]
    away = dict(zip(keys, [0, *hops], strict=True))
    pairs = itertools.combinations(keys, 2)
    connections = tuple((a, b) for a, b in pairs if abs(away[a] - away[b]) < 2 and draw.random() < 0.2)
    now = datetime(2026, 1, 1, tzinfo=UTC)
    run = RunRecord(
        "r", "g", "graph", Search("3/10", score), 1, True, "", 1, 0, 0, 0, 0, 0, 0, 0, 0, None, None, now, now, None
    )
    beyond = tuple(name(i) for i in range(5000, 5000 + others))
    cohesion = FoundCohesion(keys[0], Search(Fraction(3, 10), score), tuple(keys), len(connections))
    return ShownCohesion(
        run=run,
        cohesion=cohesion,
        connections=connections,
        others=beyond,
        hops=away,
        local_view=LocalView(900, 1234),
        moved=False,
        holds=True,
    )


SMALL = shown([1, 1, 1, 2, 2], 4)
HUNDRED = shown([1] * 20 + [2] * 40 + [3] * 40, 12)
CROWDED = shown([1] * 100, 900)
ALONE = shown([], 0)
TEXT = shown([1] * 30 + [3], 0, text=True, score="degree")
