"""Does OpenDP's sampler, as a release calls it, draw what the proofs assume? Every test states its size and its power.

Size: the probability of a false alarm, at most 1e-6 for each assertion that accepts, by inequalities that hold for any
number of draws (Dvoretzky, Kiefer and Wolfowitz with Massart's constant; Hoeffding; Azuma). Power: the probability of
noticing the fault that is named.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import discrete_laplace
import numpy as np
import pytest

from pcneo.privacy.noise import ReleaseNoise, add_noise, handed_scale

F = Fraction
DRAWS = 20_000
FALSE_ALARM = 1e-6
BAND = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * DRAWS))
"""0.0190: the empirical distribution function of 20,000 draws is farther from the true one once in a million times."""

SCALES = [F(3, 10), F(1, 2), F(1), F(10, 3), F(50), F(10**6)]


@cache
def sample(scale: Fraction) -> np.ndarray:
    return np.array(ReleaseNoise().draw(scale, DRAWS))


def tail(x: np.ndarray, scale: Fraction) -> np.ndarray:
    """P[|X| > x] = 2α^(x+1)/(1+α) for x >= 0."""
    t = float(scale)
    return 2 * np.exp(-(x + 1) / t) / (1 + np.exp(-1 / t))


def distance(drawn: np.ndarray, scale: Fraction) -> float:
    """The largest difference between the empirical and the exact P[|X| > x]."""
    values, counts = np.unique(np.abs(drawn), return_counts=True)
    beyond = 1 - np.cumsum(counts) / len(drawn)
    # Between two values that occur, the exact tail is farthest from the empirical one just before the later value.
    here, before = np.abs(beyond - tail(values, scale)), np.abs(1 - tail(values - 1, scale))
    before[1:] = np.abs(beyond[:-1] - tail(values[1:] - 1, scale))
    before[values == 0] = 0
    return float(max(here.max(), before.max()))


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_magnitudes_fit_the_true_scale(scale: Fraction) -> None:
    """Size 1e-6 for each scale."""
    assert distance(sample(scale), scale) <= BAND


@pytest.mark.parametrize("factor", [F(7, 10), F(13, 10)], ids=str)
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_magnitudes_do_not_fit_a_scale_that_is_off_by_three_tenths(scale: Fraction, factor: Fraction) -> None:
    """Power 1 - 1e-6: where the exact tails are more than two bands apart, draws within one are outside the other."""
    x = np.arange(int(10 * scale) + 2) if scale < 1000 else np.linspace(0, float(10 * scale), 10_000)
    assert np.abs(tail(x, scale) - tail(x, scale * factor)).max() > 2 * BAND
    assert distance(sample(scale), scale * factor) > BAND


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_signs_are_balanced(scale: Fraction) -> None:
    """Size 1e-6 (Hoeffding over the draws that are not 0)."""
    signs = np.sign(sample(scale))
    assert abs(signs.sum()) <= bound_on_sum(int(np.count_nonzero(signs)))


def bound_on_sum(terms: int, length: float = 1) -> float:
    """What the sum of so many centred terms of at most this length exceeds in size once in a million."""
    return length * math.sqrt(2 * terms * math.log(2 / FALSE_ALARM))


# --- Between vertices


def correlation_alarm(drawn: np.ndarray, scale: Fraction) -> bool:
    """Whether the noise of neighbouring vertices looks related, in sign or in size; falsely twice in a million times.

    Products of centred terms of independent neighbours are a martingale's steps (Azuma).
    """
    signs = np.sign(drawn)
    median = int(math.log(2) * scale)
    large = (np.abs(drawn) > median) - tail(np.array([median]), scale)[0]
    return any(
        abs(np.sum(terms[1:] * terms[:-1])) > bound_on_sum(len(terms) - 1, float(np.abs(terms).max()) ** 2)
        for terms in (signs, large)
    )


@pytest.mark.parametrize("scale", [F(1), pytest.param(F(50), marks=pytest.mark.long)], ids=str)
def test_the_noise_of_one_vertex_tells_nothing_of_the_next_s(scale: Fraction) -> None:
    """Size 2e-6, on noise drawn for 20,000 vertices in one release."""
    drawn = np.array(add_noise([7] * DRAWS, scale, ReleaseNoise())) - 7
    assert not correlation_alarm(drawn, scale)


@pytest.mark.parametrize("what", ["sign", "size"])
def test_neighbours_that_share_sign_or_size_one_time_in_seven_would_be_noticed(what: str) -> None:
    """Power: the expected sum of products is more than three times what raises the alarm."""
    expected, alarm = (DRAWS / 7, bound_on_sum(DRAWS)) if what == "sign" else (DRAWS / 28, bound_on_sum(DRAWS, 0.27))
    assert expected > 3 * alarm

    rng = np.random.default_rng(8)
    drawn = sample(F(50)).copy()
    signs, sizes = np.sign(drawn), np.abs(drawn)
    copied = np.flatnonzero(rng.random(DRAWS - 1) < 1 / 7) + 1
    shared = signs if what == "sign" else sizes
    shared[copied] = shared[copied - 1]
    assert correlation_alarm(signs * sizes, F(50))


def test_two_releases_draw_different_noise() -> None:
    assert not np.array_equal(ReleaseNoise().draw(F(50), 100), ReleaseNoise().draw(F(50), 100))


# --- Small scales: what is handed to the sampler


class Spied(Exception):  # noqa: N818
    """Raised in place of drawing."""


def handed_to_opendp(scale: Fraction, monkeypatch: pytest.MonkeyPatch) -> float:
    noise, wanted = ReleaseNoise(), []

    def spy(domain: object, metric: object, *, scale: float) -> Sequence[int]:
        wanted.append(scale)
        raise Spied

    monkeypatch.setattr(noise, "_make_laplace", spy)
    with pytest.raises(Spied):
        noise.draw(scale, 1)
    return wanted[0]


@pytest.mark.parametrize("scale", [F(29, 100), F(1, 7), F(1, 30), F(3, 1000), F(1, 10**5)], ids=str)
def test_small_scales_reach_the_sampler_to_the_last_bit_and_give_the_probabilities_of_the_formula(
    scale: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too few draws differ from 0 for a test by sampling; P[X != 0] = 2α/(1+α) follows from what is handed over."""
    handed = F(handed_to_opendp(scale, monkeypatch))
    assert handed == F(handed_scale(scale))
    assert scale <= handed < scale * (1 + F(1, 2**52))
    moved, wanted = (2 * discrete_laplace.cdf(-1, t) for t in (handed, scale))
    assert 1 <= F(moved) / F(wanted) <= 1 + F(1, 2**51) / scale


def test_at_a_small_scale_nearly_all_draws_are_zero() -> None:
    """P[X != 0] is 9.0e-5 at t = 0.1: more than 20 of 20,000 happen with a probability below 1e-13."""
    assert np.count_nonzero(sample(F(1, 10))) <= 20
