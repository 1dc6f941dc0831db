"""Numbers from outside: read exactly, and no text makes a number that costs much time or memory."""

from __future__ import annotations

import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcneo.basics.exact_numbers import TooManyDigitsError, exact_number

F = Fraction


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        *(("0.3", F(3, 10)), (" 3e-1\n", F(3, 10)), ("3/10", F(3, 10)), ("-2", F(-2)), ("0", F(0)), ("1e6", F(10**6))),
        *((0.1, F(1, 10)), (np.float64(0.1), F(1, 10)), (7, F(7)), (F(2, 7), F(2, 7)), (Decimal("2.50"), F(5, 2))),
    ],
)
def test_a_number_is_what_is_written(value: object, exact: Fraction) -> None:
    assert exact_number(value) == exact


NO_NUMBERS = [
    *("", "x", "1/0", "1/2/3", "0.5/3", "1e5/3", "nan", "inf", "-Infinity", "0,3", "1 2"),
    *(None, True, [1], 1j, b"1", float("nan"), float("inf"), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity")),
]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_what_is_not_a_finite_number_is_a_value_error(value: object) -> None:
    with pytest.raises(ValueError, match="not") as refusal:
        exact_number(value)
    assert not isinstance(refusal.value, TooManyDigitsError)


@pytest.mark.parametrize(
    "value",
    [
        *("1e999999999", "1e-999999999", "0e999999999", "9" * 10**6, "1/" + "9" * 10**6, "0." + "0" * 10**6 + "1"),
        *("-1e999999999", "1e1000", "1e-1001", Decimal("1e999999"), 10**1000, -(10**1000), F(1, 10**1000)),
    ],
    ids=range(13),
)
def test_a_bomb_is_refused_at_once(value: object) -> None:
    begun = time.process_time()
    with pytest.raises(TooManyDigitsError, match="more than 1,000 digits"):
        exact_number(value)
    assert time.process_time() - begun < 1


@given(st.text("0123456789eE+-./_ naif", max_size=20), st.integers(1, 400))
def test_whatever_is_written_is_a_short_number_or_a_value_error(text: str, most_digits: int) -> None:
    try:
        fraction = exact_number(text, most_digits)
    except ValueError:
        return
    assert abs(fraction.numerator) < 10**most_digits > fraction.denominator


@given(st.fractions())
def test_a_fraction_is_read_back(x: Fraction) -> None:
    assert exact_number(f"{x.numerator}/{x.denominator}") == exact_number(x) == x
