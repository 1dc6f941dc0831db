"""The discrete Laplace distribution, P[X = x] ∝ exp(-|x|/t) over the integers.

GUARANTEE.md#noise and GUARANTEE.md#utility state what rests on it.

Scales are exact fractions; those of a release are the ones that the sampler is actually given (`noise.handed_scale`).
α is exp(-1/t) throughout.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction

import numpy as np

_DIGITS = 50  # of `variance`, all of them right except perhaps the last
_GUARD_DIGITS = 15  # beyond those, so that a few roundings cannot reach them
_FIRST_DIGITS = 50  # of `pad`; doubled until they decide
_FREQUENCIES = 2**14  # of `sum_half_width`, at most; what is left out is below _NUMERICAL_ERROR
_NUMERICAL_ERROR = 1e-6
_COVERAGE = 0.95  # of an interval for a total


@contextmanager
def _digits(digits: int) -> Iterator[None]:
    """Compute in decimals of `digits` digits, with exponents so wide that α of any scale fits or becomes 0."""
    with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        yield


def _decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def _alpha(scale: Fraction) -> Decimal:
    return (-1 / _decimal(scale)).exp()


def variance(scale: Fraction) -> Decimal:
    """Return 2α/(1 - α)²."""
    # 1 - α is about 1/t, so a large scale cancels as many digits as it has.
    with _digits(_DIGITS + _GUARD_DIGITS + len(str(int(scale)))):
        alpha = _alpha(scale)
        value = 2 * alpha / (1 - alpha) ** 2
    with _digits(_DIGITS):
        return +value


def pad(scale: Fraction, delta: Fraction) -> int:
    """Return the smallest integer a >= 0 with P[X < -a] = exp(-(a+1)/t)/(1+exp(-1/t)) <= delta, for 0 < delta < 1.

    So `x + X + a >= x` with probability at least 1 - delta.
    """
    # [pad-minimal] a >= t·ln(1/(delta·(1+α))) - 1, which is never an integer for rational t and delta, as e^(1/t) is
    # transcendental: enough digits always decide on which side of one it lies.
    digits = _FIRST_DIGITS
    while True:
        with _digits(digits):
            t = _decimal(scale)
            logarithm = -(_decimal(delta) * (1 + _alpha(scale))).ln()
            exact_to = (t * (abs(logarithm) + 10) + 1).scaleb(2 - digits)
            lowest, highest = (
                max(0, int((t * logarithm - 1 + error).to_integral_value(ROUND_CEILING)))
                for error in (-exact_to, exact_to)
            )
        if lowest == highest:
            return lowest
        digits *= 2


def standard_error(scale: Fraction, count: int = 1) -> float:
    """Return the standard deviation of the sum of `count` independent noises.

    For the graph's total, the sum of the counts divided by k, divide the result by k.
    """
    return math.sqrt(_variance(scale) * count)


def _variance(scale: Fraction) -> float:
    """Return 2α/(1 - α)² in doubles, right to about their last digit for small and for large scales."""
    x = -1 / float(scale) if scale > Fraction(1, 700) else -math.inf  # for smaller scales α is not a normal double
    return 2 * math.exp(x) / math.expm1(x) ** 2


def sum_half_width(scale: Fraction, count: int = 1) -> int:
    """Return the least w with P[|S| <= w] >= 95 %, and 1e-6 more to cover what the computation leaves out.

    S is the sum of n = `count` independent noises of variance V. Its characteristic function is (1 + V(1-cos θ))^-n. It
    is summed over the frequencies 2πj/M, which gives the exact distribution of S modulo M, with M so large that the
    rest cannot matter.
    """
    variance = _variance(scale)
    if not (total := variance * count):
        return 0
    # [interval-period] E[exp(rS)] = (1 - V(cosh r - 1))^-n <= 2 where cosh r - 1 = 1/(2nV): P[|S| > 30/r] <= 4e^-30.
    rate = 2 * math.asinh(math.sqrt(1 / total) / 2)
    reach = max(32, math.ceil(30 / rate))
    period = 2 * reach + 1
    # [interval-frequencies] (1 + V(1-cos θ))^n >= 1 + nV·(1-cos θ): the frequencies left out add up to no more than
    # M²/(16·nV·J²), which is below 9e-7 for this period.
    j = np.arange(1, min(_FREQUENCIES, (period - 1) // 2) + 1, dtype=np.float64)
    half_angles = np.pi * j / period
    sines = np.sin(half_angles)
    weights = np.exp(-count * np.log1p(variance * 2 * sines**2)) / sines

    def within(w: int) -> float:
        return (2 * w + 1 + 2 * float(np.dot(np.sin((2 * w + 1) * half_angles), weights))) / period

    low, high = -1, reach
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if within(middle) >= _COVERAGE + _NUMERICAL_ERROR else (middle, high)
    return high
