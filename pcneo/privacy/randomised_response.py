"""Randomised response: each pair is answered once, and flipped with probability f (GUARANTEE.md#respond)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from pcneo.errors import ParameterError, fault

COINS = 2**24
"""A coin is uniform on this many values: three bytes."""

WARNING = " WARNING: at this ε the answers show much of the graph, and more where it is dense."

LEAST_EPSILON, MOST_EPSILON = Fraction(1, 1000), Fraction(16)
"""The largest ε applies to every mechanism, the least only to those with answers."""


def check_epsilon(epsilon: Fraction, mechanism: str = "respond") -> None:
    """Refuse an ε for which three bytes are too few or a flip is nearly a fair coin."""
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        raise ParameterError(
            f"epsilon of {mechanism} must be from 0.001 to 16, not {float(epsilon):g}. Below 0.001 "
            "nearly half the answers would be flipped; above 16 hardly any, and nothing would be protected.",
            name="epsilon",
            value=epsilon,
        )


def half_true_epsilon(vertices: int, mean_degree: float) -> float:
    """Return ln(n/d), the ε from which on at least half of the yes-answers are connections (GUARANTEE.md#respond)."""
    return math.log(vertices / mean_degree)


def shown(epsilon: Fraction, n: int, mean_degree: float, degree_is: str = "a mean degree") -> str:
    """Say how ε compares with ln(n/d), from which on at least half of the yes-answers are connections."""
    if mean_degree > n - 1:  # a guess may be more than so few vertices can have
        mean_degree, degree_is = n - 1, "the largest possible mean degree"
    threshold = half_true_epsilon(n, mean_degree)
    text = (
        f"ln(n/d) is {threshold:.1f} for n = {n:,} vertices and {degree_is} d = {mean_degree:.3g}, and ε is "
        f"{float(epsilon):g}: once ε reaches ln(n/d), at least half of the yes-answers are connections."
    )
    if epsilon >= threshold - 2:
        if threshold > 2:
            text += " They show little of the graph only while ε is below ln(n/d) - 2."
        else:
            text += " No ε is below ln(n/d) - 2 here, so a smaller one would not help."
        text += WARNING
    return text


def threshold_of(epsilon: Fraction) -> int:
    """Return a = ceil(2^24/(1+e^ε)), exactly: a coin below it flips the answer."""
    # [respond-threshold] Rounded up: f = a/2^24 is never below 1/(1+e^ε), so that ln((1-f)/f) is at most ε.
    digits = 30
    while digits < 10_000:
        low, high = (_quotient(epsilon, digits, up) for up in (False, True))
        if math.ceil(low) == math.ceil(high):
            return math.ceil(low)
        digits *= 2
    raise fault("The chance of a flip cannot be computed")


def _quotient(epsilon: Fraction, digits: int, up: bool) -> Decimal:
    """Return a bound on 2^24/(1+e^ε), from above or from below: every rounding goes the same way."""
    outward, inward = (ROUND_CEILING, ROUND_FLOOR) if up else (ROUND_FLOOR, ROUND_CEILING)
    below = Context(prec=digits, rounding=inward)
    exponent = below.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    power = exponent.exp(below)  # rounded to the nearest, whatever the context says
    power = power.next_minus(below) if up else power.next_plus(below)
    return Context(prec=digits, rounding=outward).divide(Decimal(COINS), below.add(power, 1))


@dataclass(frozen=True)
class Flips:
    """What is public about answers before they are drawn: the number of vertices and the chance of a flip.

    Attributes:
        n: vertices.
        below: a, out of 2^24; less than half of it.
    """

    n: int
    below: int

    @property
    def f(self) -> float:
        """The chance that an answer is flipped."""
        return self.below / COINS

    @property
    def variance(self) -> float:
        """v = f(1-f)/(1-2f)², the variance that one answer adds."""
        return self.f * (1 - self.f) / (1 - 2 * self.f) ** 2

    @property
    def pairs(self) -> int:
        """N = C(n, 2)."""
        return math.comb(self.n, 2)

    def connections(self, yes: int) -> Fraction:
        """Return m̃, the unbiased estimate of the number of connections, from the number of yes-answers."""
        return Fraction(yes * COINS - self.below * self.pairs, COINS - 2 * self.below)

    @property
    def usual_shared(self) -> int:
        """How many yes-neighbours two vertices must share to count as near: ceil(f²(n-2)), due to flips, and two."""
        # [rough-threshold]
        return math.ceil(Fraction(self.below, COINS) ** 2 * (self.n - 2)) + 2

    @property
    def bytes(self) -> int:
        """The bytes of memory that the answers take."""
        return self.n * -(-self.n // 64) * 8


@dataclass(frozen=True)
class Yes:
    """What a set of answers shows as a whole.

    Attributes:
        flips: what was public before the answers were drawn.
        count: m̂, the pairs answered yes.
    """

    flips: Flips
    count: int

    @property
    def connections(self) -> float:
        """m̃, the estimated number of connections."""
        return float(self.flips.connections(self.count))

    @property
    def is_hopeless(self) -> bool:
        """Whether there are more than twenty flips to yes, fN, for each estimated connection, m̃."""
        flips = Fraction(self.flips.below, COINS) * self.flips.pairs
        return flips > 20 * self.flips.connections(self.count)

    @property
    def share_true(self) -> float:
        """q, the estimated percentage of yes-answers that are connections, cut to 0..100."""
        if not self.count:
            return 0.0
        return min(100.0, max(0.0, 100 * (1 - self.flips.f) * self.connections / self.count))

    @property
    def mean_degree(self) -> float:
        """d̃ = 2m̃/n, where m̃ is taken as 1 at least."""
        return 2 * max(self.connections, 1.0) / self.flips.n
