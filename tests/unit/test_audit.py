"""What an audit makes of losses and scales: quantiles, and λ in simulations."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from pcneo.privacy.mechanisms import Edge
from pcneo.privacy.quantiles import quantiles
from pcneo.privacy.simulated_scales import simulate


def test_quantiles_are_losses_that_occur() -> None:
    losses = np.arange(1, 201, dtype=float)
    assert quantiles(losses) == (100, 180, 198, 200)
    assert quantiles(np.array([3.0])) == (3, 3, 3, 3)
    assert quantiles(np.array([])) == (0, 0, 0, 0)


def test_an_infinite_loss_shows_in_the_quantiles_it_reaches_and_in_no_other() -> None:
    losses = np.array([1.0] * 98 + [math.inf] * 2)
    assert quantiles(losses) == (1, 1, math.inf, math.inf)


def test_simulated_scales_repeat_and_are_quantiles() -> None:
    mechanism = Edge(k=3, epsilon=1, n=5_000)
    scales = simulate(lambda noise: mechanism.scale(10, noise), 400)
    again = simulate(lambda noise: mechanism.scale(10, noise), 400)
    assert scales == again
    assert scales.low < scales.median < scales.high
    assert scales.median == pytest.approx(mechanism.expected_scale(10), rel=0.05)

    values = iter(map(Fraction, [5, 1, 4, 2, 3, *range(6, 21)]))
    assert simulate(lambda noise: next(values), 20) == type(scales)(20, Fraction(1), Fraction(10), Fraction(19))
