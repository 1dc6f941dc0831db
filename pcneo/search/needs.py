"""p, read exactly from its text, and the needs that follow from it (ALGORITHM.md#p-cohesion)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.exact_numbers import TooManyDigitsError, exact_number
from pcneo.errors import ParameterError

__all__ = ["needs_of", "p_text", "parse_fraction"]


def parse_fraction(p: object) -> Fraction:
    """Return p exactly as it is written: `"0.3"`, `"3/10"`, a Decimal, a Fraction, or a float through its `repr`.

    Raises:
        ParameterError: p is not a number, not between 0 and 1, both excluded, or has more than 1,000 digits.
    """
    try:
        fraction = exact_number(p)
    except TooManyDigitsError as error:
        raise ParameterError(f"p {error}.", name="p", value=p) from error
    except ValueError:
        fraction = None
    if fraction is None or not 0 < fraction < 1:
        raise ParameterError(
            f"p must be a number between 0 and 1, both excluded, such as 0.3 or 1/3, not {p!r}.", name="p", value=p
        )
    return fraction


def p_text(p: Fraction) -> str:
    """Return the canonical text of p, `a/b` in lowest terms, which is its identity in the database."""
    return f"{p.numerator}/{p.denominator}"


def needs_of(p: Fraction, degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return need(v) = ceil(p·deg(v)) for each degree, int64, exact for any p."""
    a, b = p.as_integer_ratio()
    table = [-(-a * degree // b) for degree in range(int(degrees.max(initial=0)) + 1)]
    return np.array(table, np.int64)[degrees]
