"""Numbers that come from outside, read exactly and within bounds: a text of ten characters may stand for a gigabyte."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction


class TooManyDigitsError(ValueError):
    """A number is longer than anybody means; its text goes on after the name of what it is."""


def exact_number(value: object, most_digits: int = 1_000) -> Fraction:
    """Return a number exactly as it is written; nothing is computed that has more than a few thousand digits."""
    fraction = _fraction(value, most_digits)
    if max(abs(fraction.numerator), fraction.denominator) >= 10**most_digits:
        raise _too_many(most_digits)
    return fraction


def _fraction(value: object, most_digits: int) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, str | Decimal | float | int | Fraction):
        raise ValueError("it is not a number")
    if isinstance(value, int | Fraction):
        return Fraction(value)
    text = value.strip() if isinstance(value, str) else ""
    if len(text) > 2 * most_digits + 10:  # two numbers, a sign and what stands between them
        raise _too_many(most_digits)
    try:
        if "/" in text:
            return Fraction(text)  # which takes no exponent beside the slash
        number = value if isinstance(value, Decimal) else Decimal(text or repr(float(value)))
    except (ArithmeticError, ValueError) as error:
        raise ValueError("it is not a number") from error
    if not number.is_finite():
        raise ValueError("it is not finite")
    if abs(number.adjusted()) > most_digits:
        raise _too_many(most_digits)
    return Fraction(number)


def _too_many(most_digits: int) -> TooManyDigitsError:
    return TooManyDigitsError(f"has more than {most_digits:,} digits before or after its point; round it")
