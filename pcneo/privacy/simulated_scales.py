"""How a scale that is itself random varies, by simulation (GUARANTEE.md#loss-of-one-connection)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from pcneo.privacy.noise import Noise, SimulatedNoise

SEED = 1
"""Seeds everything that an audit draws, so that a repeated audit repeats its numbers. A release takes no seed."""


@dataclass(frozen=True)
class SimulatedScales:
    """λ as simulations find it.

    Attributes:
        low, median, high: the 5 %, 50 % and 95 % quantiles of λ.
    """

    low: Fraction
    median: Fraction
    high: Fraction


def simulate(scale: Callable[[Noise], Fraction], phases: int) -> SimulatedScales:
    """Find a mechanism's λ `phases` times with simulated noise."""
    noise = SimulatedNoise.seeded(SEED)
    ascending = sorted(scale(noise) for _ in range(phases))
    low, median, high = (ascending[max(0, math.ceil(share * phases) - 1)] for share in (0.05, 0.5, 0.95))
    return SimulatedScales(low, median, high)
