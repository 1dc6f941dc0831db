"""What a person types at a question of a guided release."""

from __future__ import annotations

from typing import Any

import pytest

from pcneo.cli.typed_answers import Left, budget_for, epsilon_of, epsilon_or_error, mean_count, mean_degree
from pcneo.errors import ParameterError
from pcneo.privacy.composition import Cost
from pcneo.privacy.exact import positive


class AnyEpsilon:
    """An offer that takes every ε."""

    def check(self, epsilon: str) -> None:
        positive(epsilon, "epsilon")


OFFER: Any = AnyEpsilon()


def epsilon(text: str, also: str = "") -> str:
    return epsilon_of(OFFER, Left(Cost(positive(3, "epsilon")), new=False), text, also)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1", ("1", "")),
        ("ε = 1", ("1", "")),
        ("1 / 3", ("1/3", "")),
        ("3", ("3", "")),
        ("± 400", ("", "400")),
        ("+-5 %", ("", "5%")),
        ("+/-5", ("", "5")),
        ("5%", ("", "5%")),
    ],
)
def test_an_epsilon_is_told_from_an_error_whatever_spaces_are_typed(text: str, read: tuple[str, str]) -> None:
    assert epsilon_or_error(epsilon, text) == read


@pytest.mark.parametrize("text", ["", "x", "-1", "0", "± x", "3.5", "17"])
def test_what_is_neither_or_more_than_is_left_is_refused(text: str) -> None:
    with pytest.raises(ParameterError):
        epsilon_or_error(epsilon, text)


def test_means_that_no_graph_has_are_refused_where_they_are_typed() -> None:
    assert (mean_degree("2.5"), mean_count(4, "3"), mean_count(4, "")) == ("2.5", "3", None)
    for wrong in ("1e10", "few"):
        with pytest.raises(ParameterError):
            mean_degree(wrong)
    for wrong in ("3.1", "0", "few"):
        with pytest.raises(ParameterError):
            mean_count(4, wrong)


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (False, "This graph has ε = 3 left. `pcneo budget set` raises its budget."),
        (True, "--budget-epsilon gives this graph ε = 3."),
    ],
)
def test_more_than_a_budget_allows_is_refused_with_the_budget_that_there_is(new: bool, said: str) -> None:
    with pytest.raises(ParameterError) as refused:
        epsilon_of(OFFER, Left(Cost(positive(3, "epsilon")), new=new), "4")
    assert str(refused.value) == said


def test_a_budget_below_this_release_is_refused_where_it_is_typed() -> None:
    assert budget_for("1", "ε = 2") == "2"
    with pytest.raises(ParameterError, match="type that or more"):
        budget_for("1", "1/2")
