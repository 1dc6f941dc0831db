"""What a difference between two versions shows by itself."""

from __future__ import annotations

from dataclasses import replace

from pcneo.stored.versions import Difference, Side


def test_a_difference_that_only_the_graph_can_have_made_is_certain_whatever_best_says() -> None:
    one, two, lost = Side((1, 2, 3), 3, best=False), Side((1, 2, 4), 3, best=False), Side((1, 2, 3), 2, best=False)
    assert not Difference(1, one, two).is_certain
    assert Difference(1, replace(one, best=True), replace(two, best=True)).is_certain
    assert Difference(1, one, lost).is_certain
    assert Difference(1, None, one).is_certain
    assert Difference(1, one, None).is_certain
