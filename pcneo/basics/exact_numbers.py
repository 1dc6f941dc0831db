"""Numbers from outside, read exactly and within bounds: ten characters of text can stand for a gigabyte of digits."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction


class TooManyDigitsError(ValueError):
    """A number is longer than anyone could mean; the message continues a sentence that begins with its name."""


def exact_number(value: object, most_digits: int = 1_000) -> Fraction:
    """Return a number exactly as written, without ever computing with more than a few thousand digits."""
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
    if len(text) > 2 * most_digits + 10:  # two numbers, a sign and the characters between them
        raise _too_many(most_digits)
    if "_" in text or not text.isascii():  # Python reads 1_0 as 10, and digits of every script
        raise ValueError("it is not a number")
    try:
        if "/" in text:
            return Fraction(text)  # does not accept an exponent along with a slash
        number = value if isinstance(value, Decimal) else Decimal(text or repr(float(value)))
    except (ArithmeticError, ValueError) as error:
        raise ValueError("it is not a number") from error
    if not number.is_finite():
        raise ValueError("it is not finite")
    if abs(number.adjusted()) > most_digits:
        raise _too_many(most_digits)
    return Fraction(number)


def _too_many(most_digits: int) -> TooManyDigitsError:
    return TooManyDigitsError(f"has more than {most_digits:,} digits before or after the decimal point; round it")
