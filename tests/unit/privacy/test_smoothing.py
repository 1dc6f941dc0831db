"""Clipped and smoothed counts: against a plain twin, and what must stay as it was."""

from __future__ import annotations

import math
import random

import naive
import numpy as np
import pytest

from pcneo.counting.counted import CountedGraph
from pcneo.errors import ParameterError
from pcneo.graph import graph_from_edges
from pcneo.privacy.mechanisms import Respond
from pcneo.privacy.noise import SimulatedNoise
from pcneo.privacy.randomised_response import Flips
from pcneo.privacy.smoothing import clipped, degree_bounds, largest_counts, smoothed, variances

FLIPS = Flips(50, 800_000)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 159, 160, 203, 2_500])
def test_counts_are_smoothed_as_the_twin_does(n: int) -> None:
    rng = random.Random(n)
    degrees = [rng.choice([0.5, 2.0, rng.gauss(5, 9)]) for _ in range(n)]
    counts = [rng.gauss(3, 40) for _ in range(n)]
    least = [rng.uniform(0.1, 900) for _ in range(n)]
    largest = [rng.uniform(0, 60) for _ in range(n)]
    result = smoothed(counts, degrees, np.array(least), np.array(largest))
    assert np.allclose(result, naive.smoothed(counts, degrees, least, largest), rtol=1e-9, atol=1e-9)
    assert clipped(counts, np.array(largest)) == [min(max(x, 0), most) for x, most in zip(counts, largest, strict=True)]


def test_bounds_and_variances_are_those_of_the_document() -> None:
    f = 800_000 / 2**24
    v = f * (1 - f) / (1 - 2 * f) ** 2
    degrees = [-3.0, 0.4, 7.25, 48.9, 80.0]
    bounds = degree_bounds(degrees, FLIPS)
    assert bounds == pytest.approx([min(max(d, 0), 49) + 2 * math.sqrt(49 * v) for d in degrees])
    expected = [math.comb(min(49, math.ceil(bound)), 2) for bound in bounds]
    assert largest_counts(bounds, 50, 3).tolist() == expected
    assert largest_counts(bounds, 50, 4).tolist() == [math.comb(min(49, math.ceil(bound)), 3) for bound in bounds]
    assert variances(degrees, FLIPS) == pytest.approx(
        [v**3 * math.comb(49, 2) + v**2 * 50 * max(1, d) + v * max(1, d) ** 2 for d in degrees]
    )


@pytest.mark.parametrize("k", [3, 4])
def test_both_are_columns_beside_the_plain_counts_and_leave_the_total_alone(k: int) -> None:
    facts = CountedGraph(graph_from_edges(range(60), *zip(*[(i, (i * 7 + 1) % 60) for i in range(50)], strict=True)))
    plain = Respond(k=k, epsilon=1, n=60)
    both = Respond(k=k, epsilon=1, clip=True, smooth=k == 3, n=60)
    plain_draw, other = (m.draw(facts, SimulatedNoise.seeded(1)) for m in (plain, both))
    assert list(plain_draw.columns) == ["degree", "count", *(["standardError"] if k == 3 else [])]
    assert list(other.columns) == [*plain_draw.columns, "clipped", *(["smoothed"] if k == 3 else [])]
    assert {name: other.columns[name] for name in plain_draw.columns} == plain_draw.columns
    assert other.record["total"] == plain_draw.record["total"] == pytest.approx(sum(plain_draw.counts) / k, abs=60 / k)
    assert "biased" in str(other.record["note"])
    assert "note" not in plain_draw.record
    assert min(other.columns["clipped"]) >= 0 > min(plain_draw.counts)


def test_four_cliques_are_not_smoothed() -> None:
    with pytest.raises(ParameterError, match="k = 3"):
        Respond(k=4, epsilon=1, smooth=True)
