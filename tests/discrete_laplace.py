"""Probabilities of the discrete Laplace distribution, P[X = x] ∝ α^|x| with α = exp(-1/t), as tests compare with them.

Scales are exact; a large one cancels as many digits of 1 - α as it has, so those are computed beside the digits wanted.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction


def pmf(x: int, scale: Fraction, digits: int = 50) -> Decimal:
    """Return P[X = x] = (1 - α)/(1 + α)·α^|x|."""
    with localcontext(_beyond(scale, digits)):
        alpha = _power(scale, 1)
        value = (1 - alpha) / (1 + alpha) * _power(scale, abs(x))
    return _rounded(value, digits)


def cdf(x: int, scale: Fraction, digits: int = 50) -> Decimal:
    """Return P[X <= x]: α^-x/(1 + α) for x < 0, else 1 - α^(x+1)/(1 + α); P[X > x] is `cdf(-x - 1, scale)`."""
    with localcontext(_beyond(scale, digits)):
        tail = _power(scale, x + 1 if x >= 0 else -x) / (1 + _power(scale, 1))
        value = 1 - tail if x >= 0 else tail
    return _rounded(value, digits)


def _beyond(scale: Fraction, digits: int) -> Context:
    """Decimals of more digits than are wanted, with exponents so wide that α of any scale fits or becomes 0."""
    return Context(prec=digits + 15 + len(str(int(scale))), Emax=MAX_EMAX, Emin=MIN_EMIN)


def _power(scale: Fraction, exponent: int) -> Decimal:
    """Return α^exponent."""
    return (-exponent * Decimal(scale.denominator) / Decimal(scale.numerator)).exp()


def _rounded(value: Decimal, digits: int) -> Decimal:
    with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        return +value
