"""ε, δ and scales as exact fractions: read from what a person writes, and written for people and programs to read."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from pcneo.basics.exact_numbers import TooManyDigitsError, exact_number
from pcneo.errors import ParameterError

_MOST_DIGITS = 300  # of numerator and denominator: more must be a mistake, and their sums would not fit a float
_DECIMALS = 15  # the longest decimal that is written in full
_SMALL = -3  # the power of ten below which 1e-6 is easier to read than zeros
_ROUNDED = Context(prec=6, Emax=10**9, Emin=-(10**9))


def positive(value: object, name: str, *, below: int | None = None, or_zero: bool = False) -> Fraction:
    """Return a number exactly as it is written: text, a fraction `a/b`, an integer, or a float through its `repr`."""
    try:
        fraction = exact_number(value, _MOST_DIGITS)
    except TooManyDigitsError as error:
        raise ParameterError(f"{name} {error}.", name=name, value=value) from error
    except ValueError:
        fraction = None
    if fraction is None or fraction < 0 or (fraction == 0 and not or_zero) or not (below is None or fraction < below):
        wanted = "a positive, finite number" if below is None else f"a positive number below {below}"
        point = " Write it with a point, not a comma." if isinstance(value, str) and "," in value else ""
        raise ParameterError(
            f"{name} must be {'0 or ' if or_zero else ''}{wanted}, such as 0.5 or 1/3, not {_shortened(value)}.{point}",
            name=name,
            value=value,
        )
    return fraction


def _shortened(value: object) -> str:
    text = str(value) if isinstance(value, Decimal) else repr(value)
    return text if len(text) <= 80 else f"{text[:60]}…"


def rounded_up(x: Fraction, digits: int) -> Fraction:
    """Return a positive number to `digits` digits, never below it."""
    context = Context(prec=digits, rounding=ROUND_CEILING)
    return Fraction(context.divide(Decimal(x.numerator), Decimal(x.denominator)))


def fraction_text(x: Fraction) -> str:
    """Return `a/b` in lowest terms, the form that is stored: `Fraction` reads it back unchanged."""
    return f"{x.numerator}/{x.denominator}"


def decimal_text(x: Fraction) -> str:
    """Return a decimal for people: in full where it is short (`0.3`, `1e-6`), else rounded and marked (`≈0.333333`)."""
    short = _short_decimal(x)
    if short is not None:
        return _plain(short, _SMALL)
    return "≈" + _plain(_ROUNDED.divide(Decimal(x.numerator), Decimal(x.denominator)), _SMALL)


def exact_text(x: Fraction) -> str:
    """Return a number for files and JSON, which reads back unchanged: the short decimal (`0.000001`), else `a/b`."""
    return _exactly(x, 1 - _DECIMALS)


def typed_text(x: Fraction) -> str:
    """Return a number as a person types it, exactly: the short decimal (`0.3`, `1e-6`), else `a/b`."""
    return _exactly(x, _SMALL)


def _exactly(x: Fraction, least: int) -> str:
    short = _short_decimal(x)
    return fraction_text(x) if short is None else _plain(short, least)


def _short_decimal(x: Fraction) -> Decimal | None:
    context = Context(prec=_DECIMALS, Emax=_ROUNDED.Emax, Emin=_ROUNDED.Emin)
    quotient = context.divide(Decimal(x.numerator), Decimal(x.denominator))
    return quotient.normalize(context) if Fraction(quotient) == x else None


def _plain(number: Decimal, least: int) -> str:
    """Return a number in full, or with a power of ten where its exponent is below `least` or very large."""
    return format(number, "f") if least <= number.adjusted() < _DECIMALS else format(number, "e")
