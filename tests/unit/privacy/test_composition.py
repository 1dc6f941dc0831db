"""Numbers read from text and written back; costs that add up exactly."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from pcneo.errors import ParameterError
from pcneo.privacy.composition import NOTHING, UNBOUNDED, Cost, compose, fits, left
from pcneo.privacy.exact import decimal_text, fraction_text, positive

F = Fraction


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0.1", F(1, 10)),
        ("1/3", F(1, 3)),
        ("1e-6", F(1, 10**6)),
        (0.1, F(1, 10)),
        (np.float64(0.1), F(1, 10)),
        (3, F(3)),
        (Decimal("2.5"), F(5, 2)),
        (F(2, 7), F(2, 7)),
        ("1e299", F(10**299)),
    ],
)
def test_a_number_is_read_exactly_as_it_is_written(value: object, expected: Fraction) -> None:
    assert positive(value, "epsilon") == expected


@pytest.mark.parametrize(
    "value",
    [
        *("0", "-0.5", "0/1", "-1/2", "nan", "NaN", "inf", "-inf", "1/0", "", "abc", "0.5/3"),
        *(0, -1, 0.0, float("nan"), float("inf"), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity")),
        *(None, True, [1], 1j),
    ],
    ids=repr,
)
def test_what_is_not_positive_and_finite_is_refused_by_name(value: object) -> None:
    with pytest.raises(ParameterError, match="epsilon 1 must be a positive, finite number") as refusal:
        positive(value, "epsilon 1")
    assert refusal.value.data["name"] == "epsilon 1"


TOO_LONG = [
    *("1e300", "1e400", "1e1000", "1e5000", "9" * 5000, "1e-1000", "1e-9999", "1e99999", "1e-99999", "1e999999999"),
    *(10**5000, -(10**5000), F(1, 10**5000), Decimal("1e-999999999")),
]


@pytest.mark.parametrize("value", TOO_LONG, ids=range(len(TOO_LONG)))
def test_more_digits_than_sums_of_floats_have_are_refused(value: object) -> None:
    with pytest.raises(ParameterError, match="delta has more than 300 digits") as refusal:
        positive(value, "delta")
    assert len(str(refusal.value)) < 100


def test_a_long_text_that_is_no_number_is_cut_in_the_message() -> None:
    with pytest.raises(ParameterError, match="…") as refusal:
        positive("x" * 500, "epsilon")
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize("value", [1, "1", "1.0", 2, "3/2"])
def test_a_bound_above_is_excluded(value: object) -> None:
    with pytest.raises(ParameterError, match="must be a positive number below 1"):
        positive(value, "delta", below=1)


@pytest.mark.parametrize("x", [F(1, 3), F(7), F(1, 10**6), F(123456789, 1000)])
def test_the_stored_form_reads_back_unchanged(x: Fraction) -> None:
    assert Fraction(fraction_text(x)) == x
    assert "/" in fraction_text(x)


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (F(3, 10), "0.3"),
        (F(7), "7"),
        (F(100), "100"),
        (F(0), "0"),
        (F(1, 10**6), "1e-6"),
        (F(1, 3), "≈0.333333"),
        (F(2, 3), "≈0.666667"),
        (F(1, 1000), "0.001"),
        (F(15, 10**7), "1.5e-6"),
        (F(1, 453**2), "≈4.87308e-6"),
        (F(10**40), "1e+40"),
        (F(1, 3 * 10**40), "≈3.33333e-41"),
        (F(123, 10**299), "1.23e-297"),
    ],
)
def test_the_short_form_is_exact_or_says_that_it_is_not(x: Fraction, text: str) -> None:
    assert decimal_text(x) == text


def test_costs_add_up_exactly_in_any_order() -> None:
    costs = [Cost(F(1, i), F(1, i**3)) for i in range(1, 60)]
    shuffled = random.Random(1).sample(costs, len(costs))
    exact = Cost(sum((F(1, i) for i in range(1, 60)), F(0)), sum((F(1, i**3) for i in range(1, 60)), F(0)))
    assert compose(costs) == compose(shuffled) == exact
    assert compose([]) == NOTHING


def test_ten_tenths_are_one_and_not_a_little_more() -> None:
    assert fits(compose([Cost(F(1, 10), F(1, 10**7))] * 10), Cost(F(1), F(1, 10**6)))


def test_either_part_over_the_total_does_not_fit() -> None:
    total = Cost(F(1), F(1, 100))
    assert fits(total, total)
    assert not fits(Cost(F(1) + F(1, 10**30), F(0)), total)
    assert not fits(Cost(F(1, 2), F(1, 99)), total)


def test_what_is_not_bounded_stays_so_and_fits_nothing() -> None:
    assert compose([Cost(F(1)), UNBOUNDED, Cost(F(1))]) == UNBOUNDED
    assert not fits(UNBOUNDED, Cost(F(10**9), F(1)))
    assert left(UNBOUNDED, Cost(F(5))) == NOTHING
    assert not UNBOUNDED.is_bounded


def test_what_is_left_is_never_below_nothing() -> None:
    assert left(Cost(F(1, 3), F(1)), Cost(F(1), F(1, 2))) == Cost(F(2, 3), F(0))
    assert left(Cost(F(3, 2), F(1, 3)), Cost(F(1), F(1, 2))) == Cost(F(0), F(1, 6))


def test_costs_read_well() -> None:
    assert str(Cost(F(3, 10), F(1, 10**6))) == "ε = 0.3, δ = 1e-6"
    assert str(Cost(F(1, 3), F(1, 453**2))) == "ε ≈ 0.333333, δ ≈ 4.87308e-6"
    assert str(UNBOUNDED) == "not bounded"


def test_for_programs_a_cost_is_exact_and_one_that_is_not_bounded_has_no_number() -> None:
    assert Cost(F(1, 3), F(1, 10**6)).plain == {
        "bounded": True,
        "epsilon": 1 / 3,
        "epsilonExact": "1/3",
        "delta": 1e-6,
        "deltaExact": "0.000001",
    }
    assert UNBOUNDED.plain == {"bounded": False}
