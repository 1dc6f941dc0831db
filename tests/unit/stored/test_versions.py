"""What a difference between two versions shows by itself."""

from __future__ import annotations

from dataclasses import replace

from pcneo.face.listings import difference_row
from pcneo.stored.versions import Difference, Side


def test_a_difference_that_only_the_graph_can_have_made_is_certain_whatever_best_says() -> None:
    one, two, lost = Side((1, 2, 3), 3, best=False), Side((1, 2, 4), 3, best=False), Side((1, 2, 3), 2, best=False)
    assert not Difference(1, one, two).is_certain
    assert Difference(1, replace(one, best=True), replace(two, best=True)).is_certain
    assert Difference(1, one, lost).is_certain
    assert Difference(1, None, one).is_certain
    assert Difference(1, one, None).is_certain


def test_who_joined_and_left_is_known_of_each_difference_though_keys_are_of_two_kinds() -> None:
    before, after = Side((1, 2, "one"), 3, best=True), Side((2, 3, "two", "three"), 4, best=True)
    assert (Difference(2, before, after).came, Difference(2, before, after).went) == ([3, "three", "two"], [1, "one"])
    assert (Difference(2, None, after).came, Difference(2, None, after).went) == ([2, 3, "three", "two"], [])
    assert (Difference(2, before, None).came, Difference(2, before, None).went) == ([], [1, 2, "one"])


def test_a_table_of_differences_shows_those_in_connections_only() -> None:
    row = difference_row(Difference(2, Side((1, 2, 3), 3, best=True), Side((1, 2, 3), 2, best=True)))
    assert (row["edges_before"], row["edges_after"], row["came"], row["went"]) == (3, 2, [], [])
