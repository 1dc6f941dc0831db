"""Does the 95 % interval for a total hold the true one at least 95 % of the time?

By the exact distribution it does. The simulations are there for what the exact sum takes for granted: that the noise
drawn is the noise meant.

Size: for each case the number of intervals that hold it is binomial with 2,000 trials and a probability of at least
0.95, so that the share falls below 0.93 with a probability below 1e-4 (exactly P[Bin(2000, 0.95) < 1860] = 4.0e-5).
Power: at a coverage of 0.91 or less, what ±1.64 standard errors of a normal would give at best, the share is below 0.93
with a probability above 0.99.
"""

from __future__ import annotations

from fractions import Fraction

import discrete_laplace
import numpy as np
import pytest

from pcneo.privacy.laplace import standard_error, sum_half_width
from pcneo.privacy.mechanisms import Edge
from pcneo.privacy.noise import SimulatedNoise

F = Fraction
RELEASES = 2_000
LEAST = 0.93

CASES = {
    "many vertices": (F(50), 300),
    "one vertex": (F(50), 1),
    "a large scale": (F(1000), 20),
    "a small scale": (F(1, 2), 20),
}


def coverage(scale: Fraction, vertices: int, half_width: float, seed: int) -> float:
    """The share of simulated releases whose interval holds the true total."""
    drawn = np.array(SimulatedNoise.seeded(seed).draw(scale, RELEASES * vertices))
    return float(np.mean(np.abs(drawn.reshape(RELEASES, vertices).sum(axis=1)) <= half_width))


@pytest.mark.parametrize(("scale", "vertices"), CASES.values(), ids=CASES.keys())
def test_the_interval_holds_the_true_total_at_least_95_times_in_a_hundred(scale: Fraction, vertices: int) -> None:
    assert coverage(scale, vertices, sum_half_width(scale, vertices), 1) >= LEAST


@pytest.mark.parametrize(("scale", "vertices"), CASES.values(), ids=CASES.keys())
def test_the_interval_covers_at_least_95_per_cent_by_the_exact_distribution(scale: Fraction, vertices: int) -> None:
    """No sampling: the exact convolution of the probabilities, up to a tail below 1e-9."""
    t = float(scale)
    reach = int(40 * max(t, 1) + 15 * standard_error(scale, vertices))
    size = 1 << (2 * reach).bit_length()
    x = np.minimum(np.arange(size), size - np.arange(size))
    probabilities = np.fft.irfft(np.fft.rfft(np.exp(-x / t) * np.tanh(1 / (2 * t))) ** vertices, size)
    w = sum_half_width(scale, vertices)
    assert probabilities[x <= w].sum() >= 0.95
    assert probabilities[x <= w - 2].sum() < 0.9501 or w < 2


def test_1_96_standard_errors_would_cover_too_little_where_scales_are_small() -> None:
    scale = F(1, 10)
    assert 1.96 * standard_error(scale, 3) < 1
    moved = 1 - float(discrete_laplace.pmf(0, scale)) ** 3
    assert coverage(scale, 3, sum_half_width(scale, 3), 2) >= 1 - moved - 0.01


def test_the_interval_of_a_scale_found_by_noise_holds_the_true_total() -> None:
    """A whole release of `edge`, λ anew each time: given λ the noise is that of λ."""
    edge = Edge(k=3, epsilon=1, n=60)
    noise, held = SimulatedNoise.seeded(5), 0
    widths: dict[Fraction, int] = {}
    for _ in range(RELEASES):
        scale = edge.covering(edge.bound(9, noise))
        if scale not in widths:
            widths[scale] = sum_half_width(scale, 60)
        held += abs(sum(noise.draw(scale, 60))) <= widths[scale]
    assert held / RELEASES >= LEAST
