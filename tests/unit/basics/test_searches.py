"""p and the searches as values: read exactly, refused in one place, the same in sets, pickles and run ids."""

from __future__ import annotations

import copy
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcneo.basics.searches import DEFAULT_SEARCH, SEARCHES, P, Search
from pcneo.errors import ParameterError
from pcneo.plots.style import LOOKS
from pcneo.search.cohesion import KERNELS


@pytest.mark.parametrize(
    ("p", "exact"),
    [
        ("0.3", "3/10"),
        (" 3e-1 ", "3/10"),
        (".55", "11/20"),
        ("1/3", "1/3"),
        ("2/6", "1/3"),
        ("0.999", "999/1000"),
        (0.55, "11/20"),
        (0.1, "1/10"),
        (np.float64(0.1), "1/10"),
        (1e-7, "1/10000000"),
        (Decimal("0.30"), "3/10"),
        (Fraction(2, 7), "2/7"),
    ],
)
def test_p_is_read_exactly_from_its_text(p: Any, exact: str) -> None:
    assert str(P(p)) == exact


NO_FRACTION = [
    *("0", "1", "-0.3", "1.5", "3/2", "-1/3", "0/5", "1/0", "nan", "inf", "", "p", "0.3.1", "1/3/5", "0,3"),
    *(0.0, 1.0, -0.1, float("nan"), float("inf"), 0, 1, True, None, [0.3], Fraction(0), Fraction(1)),
    *(Decimal("NaN"), Decimal("sNaN"), "0.3/7"),
]


@pytest.mark.parametrize("p", NO_FRACTION, ids=lambda p: repr(p)[:20])
def test_what_is_no_number_between_0_and_1_is_refused(p: Any) -> None:
    with pytest.raises(ParameterError, match="p must be a number between 0 and 1"):
        P(p)


def test_a_comma_is_told_to_be_a_point() -> None:
    with pytest.raises(ParameterError, match=r"not '0,3'\. Write it with a point, not a comma"):
        P("0,3")


TOO_LONG = [
    *("0." + "3" * 5_000, Fraction(1, 10**5_000), "1/" + "3" * 1_001, "0." + "3" * 5_000 + "/7"),
    *("1e-999999999", "1e999999999", Decimal("1E-999999")),
]


@pytest.mark.parametrize("p", TOO_LONG, ids=range(len(TOO_LONG)))
def test_more_digits_than_anyone_means_are_refused(p: Any) -> None:
    with pytest.raises(ParameterError, match="more than 1,000 digits"):
        P(p)


@pytest.mark.parametrize(
    ("p", "instead"),
    [
        (1 / 3, "1/3"),
        (2 / 7, "2/7"),
        (0.1 + 0.2, "0.3"),
        (np.arange(0.1, 0.5, 0.1)[2], "0.3"),
        (0.1234567, "0.1234567"),
    ],
)
def test_a_float_of_more_than_six_digits_is_refused_with_what_to_write(p: float, instead: str) -> None:
    with pytest.raises(ParameterError, match=f"write '{instead}'"):
        P(p)
    assert float(P(instead)) == pytest.approx(p, rel=1e-12)


@pytest.mark.parametrize(
    ("p", "instead"),
    [
        (np.float32(0.3), "0.3"),
        (np.float16(0.3), "0.3"),
        (np.float32(1 / 3), "1/3"),
        (np.float32(0.1234567), "0.1234567"),
    ],
)
def test_a_number_of_another_float_type_is_refused_with_what_to_write(p: Any, instead: str) -> None:
    with pytest.raises(ParameterError, match=rf"^p is np\.float.*may not be exactly.*: write '{instead}'\.$"):
        P(p)
    assert P(instead) == pytest.approx(float(p), rel=1e-3)


@pytest.mark.parametrize(
    ("p", "hint"),
    [
        ("30%", "If you mean 30 per cent, write '0.3'."),
        ("30", "If you mean 30 per cent, write '0.3'."),
        (2, "If you mean 2 per cent, write '0.02'."),
        ("0,3", "Write it with a point, not a comma."),
        ("0.1,0.2", "For several p, write ['0.1', '0.2'] in Python, or -p 0.1 -p 0.2 on the command line."),
        ("1", "not '1'."),
        ("1.5", "not '1.5'."),
        ("100%", "not '100%'."),
        (True, "not True."),
        (np.float32(1.5), "not np.float32(1.5)."),
    ],
)
def test_what_is_often_written_in_place_of_p_is_answered_with_what_to_write(p: Any, hint: str) -> None:
    with pytest.raises(ParameterError) as refused:
        P(p)
    assert str(refused.value).endswith(hint)


@given(st.integers(1, 999_999))
def test_a_float_of_six_digits_is_what_it_shows(millionths: int) -> None:
    assert P(millionths / 10**6) == Fraction(millionths, 10**6)


def test_its_text_is_kept_and_makes_no_difference() -> None:
    written = [P(p) for p in ("0.3", "3/10", "6/20", 0.3, Decimal("0.30"), Fraction(3, 10))]
    assert [p.text for p in written] == ["0.3", "3/10", "6/20", "0.3", "0.30", "3/10"]
    assert set(written) == {Fraction(3, 10)}
    assert {str(p) for p in written} == {"3/10"}
    assert P(written[0]) is written[0]


def test_it_compares_with_floats_as_the_number_that_it_is() -> None:
    assert 0.2 < P("0.3") < 0.4
    assert P("0.25") == 0.25
    assert P("0.3") != 0.3  # which is a little less


@pytest.mark.parametrize("p", [P("0.3"), P(Fraction(1, 3)), P(np.float64(0.25))], ids=repr)
def test_it_survives_copies_and_pickles(p: P) -> None:
    for same in (pickle.loads(pickle.dumps(p)), copy.copy(p), copy.deepcopy(p)):  # noqa: S301 - our own bytes
        assert (type(same), same, same.text) == (P, p, p.text)
    assert eval(repr(p)) == p  # noqa: S307 - a call of ours


def test_searches_are_equal_where_p_name_and_effort_are() -> None:
    assert {Search("0.3"), Search("3/10", DEFAULT_SEARCH), Search(Fraction(3, 10), effort=1)} == {Search("0.3")}
    assert Search("0.3") != Search("0.3", "degree")
    assert pickle.loads(pickle.dumps(Search("0.3", "degree"))) == Search("0.3", "degree")  # noqa: S301 - our own bytes


def test_a_run_id_names_every_search_but_the_default() -> None:
    others = {name for name in SEARCHES if name != DEFAULT_SEARCH}
    assert str(Search("0.30")) == "3/10"
    assert {str(Search("0.3", name)) for name in others} == {f"3/10:{name}" for name in others}


def test_a_search_never_changes() -> None:
    search: Any = Search("0.3")
    with pytest.raises(AttributeError):
        search.name = "degree"
    with pytest.raises(AttributeError):
        search.p.text = "0.4"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("2",), "p must be"),
        ((["0.1", "0.3"],), r"not \['0\.1', '0\.3'\]\. Here only one p is taken"),
        (("0.3", "best"), "search must be one of smallest, density, degree"),
        (("0.3", "densty"), "Did you mean density"),
        (("0.3", None), "search must be one of"),
        (("0.3", "density", 0), "effort must be a whole number of at least 1"),
        (("0.3", "density", 1.0), "effort must be a whole number"),
        (("0.3", "density", True), "effort must be a whole number"),
        (("0.3", "density", 2), "Only the search smallest takes an effort above 1"),
        (("0.3", "best", 2), "search must be one of"),
    ],
)
def test_what_cannot_be_searched_for_is_refused_where_the_value_is_made(arguments: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Search(*arguments)


def test_every_search_has_a_kernel_and_a_look() -> None:
    assert KERNELS.keys() == SEARCHES.keys()
    assert SEARCHES.keys() <= LOOKS.keys()
