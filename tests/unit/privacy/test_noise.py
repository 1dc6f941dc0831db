"""The sources of noise, and the distribution that they draw from (GUARANTEE.md#noise)."""

from __future__ import annotations

import inspect
import math
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import discrete_laplace
import numpy as np
import pytest

from pcneo.errors import AnswerError, ParameterError, PcneoError
from pcneo.privacy import laplace
from pcneo.privacy.noise import Noise, ReleaseNoise, SimulatedNoise, add_noise, handed_scale, require_release_noise

F = Fraction


@pytest.fixture(scope="module")
def release_noise() -> ReleaseNoise:
    return ReleaseNoise()


class Calls(list):
    """A sampler that notes what it is asked for and returns 1, 2, 3, …"""

    def __call__(self, scale: float, size: int) -> list[int]:
        self.append((scale, size))
        return list(range(1, size + 1))


# --- The scale that is handed over


@pytest.mark.parametrize(
    "scale", [F(1, 3), F(2, 3), F(10, 7), F(123456789, 1000), F(1, 10**300), F(2**56 - 9) + F(1, 3)]
)
def test_the_handed_scale_is_the_least_double_that_is_not_smaller(scale: Fraction) -> None:
    handed = handed_scale(scale)
    assert Fraction(handed) >= scale
    assert Fraction(math.nextafter(handed, 0)) < scale


@pytest.mark.parametrize("scale", [F(1, 2), F(3), F(2**55), F(5e-324)])
def test_a_scale_that_is_a_double_is_handed_over_as_it_is(scale: Fraction) -> None:
    assert Fraction(handed_scale(scale)) == scale


@pytest.mark.parametrize(("scale", "advice"), [(F(1, 10**400), "a smaller epsilon"), (F(10**400), "a larger epsilon")])
def test_noise_that_cannot_be_drawn_is_refused_with_what_would_help(scale: Fraction, advice: str) -> None:
    with pytest.raises(ParameterError, match=f"cannot be drawn: .* Use {advice}"):
        handed_scale(scale)


@pytest.mark.parametrize("scale", [F(0), F(-1), F(1, 10**400), F(10**400), F(2**56), F(2**56) - F(1, 10)])
def test_a_scale_that_cannot_be_drawn_is_refused_before_drawing(scale: Fraction) -> None:
    calls = Calls()
    noise = SimulatedNoise(calls)
    with pytest.raises(ParameterError, match="cannot be drawn"):
        noise.draw(scale, 1)
    assert (noise.draws, calls) == (0, [])


def test_the_refusal_does_not_tell_the_scale() -> None:
    with pytest.raises(ParameterError) as refusal:
        handed_scale(F(2**77 + 1))
    assert "15111572745182864683" not in f"{refusal.value} {refusal.value.data}"


# --- The source of a release


def test_opendp_is_loaded_by_its_source_alone() -> None:
    """It takes most of a second, which no command but a release should wait for."""
    check = "import sys, pcneo.privacy.mechanisms as m; sys.exit('opendp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_a_release_source_has_no_place_for_a_seed() -> None:
    assert not inspect.signature(ReleaseNoise).parameters


def test_opendp_is_asked_for_64_bit_integers_around_zero_once_a_scale(
    release_noise: ReleaseNoise, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, made = release_noise._make_laplace, []

    def spy(domain: Any, metric: Any, *, scale: float) -> object:
        measurement = make(domain, metric, scale=scale)
        return lambda values: made.append((str(domain), str(metric), scale, values)) or measurement(values)

    monkeypatch.setattr(release_noise, "_make_laplace", spy)
    add_noise([10, 30], F(1, 3), release_noise)
    add_noise([20], F(5), release_noise)

    assert [(scale, values) for _, _, scale, values in made] == [(math.nextafter(1 / 3, 1), [0, 0]), (5.0, [0])]
    assert all("i64" in domain and "i64" in metric for domain, metric, _, _ in made)


def test_opendp_draws_beyond_32_bits(release_noise: ReleaseNoise) -> None:
    drawn = release_noise.draw(F(2**40), 50)
    assert sum(abs(x) > 2**31 for x in drawn) > 40  # each is with a probability of 0.998
    assert len(set(drawn)) == 50


def test_only_opendp_is_accepted_by_a_release(release_noise: ReleaseNoise) -> None:
    require_release_noise(release_noise)
    with pytest.raises(ParameterError, match="simulations"):
        require_release_noise(SimulatedNoise.seeded(1))


def test_a_source_in_disguise_is_not_accepted_by_a_release() -> None:
    disguised = type("ReleaseNoise", (Noise,), {"_sample": lambda self, scale, size: [0] * size})
    with pytest.raises(ParameterError, match="draws its noise from OpenDP"):
        require_release_noise(disguised())


# --- Simulations and adding


def test_simulated_noise_repeats_for_one_seed_and_differs_for_another() -> None:
    first, again, other = (SimulatedNoise.seeded(seed).draw(F(10), 30) for seed in (1, 1, 2))
    assert first == again != other


def test_a_source_that_gives_too_few_numbers_is_a_fault() -> None:
    with pytest.raises(AnswerError, match="asked for 3 numbers and gave 1"):
        SimulatedNoise(lambda scale, size: [0]).draw(F(1), 3)


def test_the_noise_of_all_counts_is_drawn_at_once() -> None:
    calls = Calls()
    noise = SimulatedNoise(calls)
    assert add_noise([10, 20, 30], F(2), noise) == [11, 22, 33]
    assert calls == [(2.0, 3)]
    assert noise.draws == 3


@pytest.mark.parametrize("scale", [F(0), F(2**60)])
def test_a_scale_of_0_or_an_impossible_one_draws_nothing_and_returns_no_count(scale: Fraction) -> None:
    noise = SimulatedNoise(calls := Calls())
    with pytest.raises(ParameterError, match="cannot be drawn"):
        add_noise([1, 2, 3], scale, noise)
    assert (calls, noise.draws) == ([], 0)


def test_counts_far_beyond_64_bits_stay_exact() -> None:
    huge = 10**40
    assert add_noise([huge, huge], F(1), SimulatedNoise(Calls())) == [huge + 1, huge + 2]


def test_counts_from_an_array_become_python_integers() -> None:
    counts: Any = np.array([2**63 - 1])
    noisy = add_noise(counts, F(1), SimulatedNoise(Calls()))
    assert noisy == [2**63]
    assert type(noisy[0]) is int


# --- The distribution


@pytest.mark.parametrize("scale", [F(1, 20), F(3, 10), F(1), F(7, 2)])
def test_probabilities_add_up_and_agree_with_the_distribution_function_and_the_variance(scale: Fraction) -> None:
    reach = int(scale * 80) + 3
    masses = {x: discrete_laplace.pmf(x, scale) for x in range(-reach, reach + 1)}
    assert abs(sum(masses.values()) - 1) < Decimal("1e-27")
    for x in (-3, -1, 0, 1, 4):
        # The default context of these sums has 28 digits.
        assert abs(sum(p for y, p in masses.items() if y <= x) - discrete_laplace.cdf(x, scale)) < Decimal("1e-27")
    assert abs(sum(x * x * p for x, p in masses.items()) / laplace.variance(scale) - 1) < Decimal("1e-25")


@pytest.mark.parametrize("scale", [F(1, 100), F(1, 3), F(20), F(2**55)])
def test_neighbouring_probabilities_differ_by_the_factor_of_the_definition(scale: Fraction) -> None:
    ratio = discrete_laplace.pmf(2, scale).ln() - discrete_laplace.pmf(3, scale).ln()
    assert abs(ratio * scale.numerator / scale.denominator - 1) < Decimal("1e-9")


def test_tails_of_tiny_probability_keep_their_digits() -> None:
    assert f"{discrete_laplace.cdf(-1000, F(1), 12):.10e}" == f"{Decimal(-1000).exp() / (1 + Decimal(-1).exp()):.10e}"


@pytest.mark.parametrize("scale", [F(1, 50), F(1, 3), F(1), F(1000), F(2**55)])
def test_the_standard_error_is_the_root_of_the_exact_variance(scale: Fraction) -> None:
    exact = (3 * laplace.variance(scale)).sqrt()
    assert math.isclose(laplace.standard_error(scale, 3), float(exact), rel_tol=1e-14)


def coverage_by_convolution(scale: Fraction, count: int) -> np.ndarray:
    """P[|S| <= w] for each w, every distribution convolved with the next over all integers that matter."""
    reach = int(40 * count * float(scale) + 80)
    x = np.abs(np.arange(-reach, reach + 1))
    mass = np.tanh(0.5 / float(scale)) * np.exp(-x / float(scale))
    mass = np.fft.irfft(np.fft.rfft(np.roll(mass, -reach)) ** count, len(x))
    return mass[0] + 2 * np.concatenate([[0.0], np.cumsum(mass[1 : reach + 1])])


@pytest.mark.parametrize(
    ("scale", "count"),
    [
        pytest.param(F(1, 10), 3, id="nearly always 0"),
        pytest.param(F(1, 4), 40, id="many small"),
        pytest.param(F(1), 1, id="one"),
        pytest.param(F(7, 2), 3, id="a few"),
        pytest.param(F(3), 100, id="many"),
        pytest.param(F(50), 30, id="many large"),
        pytest.param(F(2000), 1, id="one large"),
        pytest.param(F(1500), 2, id="two large"),
    ],
)
def test_the_interval_is_the_narrowest_that_the_exact_convolution_allows(scale: Fraction, count: int) -> None:
    covered = coverage_by_convolution(scale, count)
    w = laplace.sum_half_width(scale, count)
    assert covered[w] >= 0.95
    assert w == 0 or covered[w - 1] < 0.95 + 3e-6


def test_a_scale_at_which_every_draw_is_zero_adds_no_error_and_no_width() -> None:
    assert laplace.standard_error(F(1, 1000)) == 0
    assert laplace.sum_half_width(F(1, 1000)) == 0


@pytest.mark.parametrize("t", [10**6, 10**9, 2**55])
def test_the_interval_of_one_large_noise_is_that_of_its_formula(t: int) -> None:
    w = laplace.sum_half_width(F(t))
    exact = t * math.log(20)  # P[|X| > w] is e^(-w/t) but for terms in 1/t
    assert exact - 1 <= w <= exact * (1 + 1e-4) + 2


def test_many_equal_noises_come_close_to_a_normal_distribution() -> None:
    many = F(100), 20_000
    assert math.isclose(laplace.sum_half_width(*many), 1.95996 * laplace.standard_error(*many), rel_tol=1e-3)


def test_opendp_that_cannot_be_loaded_is_said_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where memory is short its library does not load, which it tells by an error of no class."""
    monkeypatch.setitem(sys.modules, "opendp.measurements", None)
    with pytest.raises(PcneoError, match=r"OpenDP, the source of noise, cannot be loaded\. Nothing was spent"):
        ReleaseNoise()
