"""A part of the campaign in the suite: some cases of each kind always, five minutes of them under `--thorough`."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from lengths import examples

from campaign import course


def check(outcomes: dict[str, course.Outcome], least: int) -> None:
    print(course.summary(outcomes))
    for kind, outcome in outcomes.items():
        assert not outcome.failures, f"{kind} {outcome.failures[0][0]}: {outcome.failures[0][1]}"
        assert outcome.tried >= least
        assert 4 * outcome.accepted >= outcome.tried, f"of {kind} too few are accepted"


def test_nothing_breaks_it() -> None:
    check(course.run("the suite", minutes=5, most=examples(60)), 1)


@pytest.mark.thorough
def test_nothing_breaks_it_in_five_minutes() -> None:
    check(course.run("five minutes", minutes=5), 100)


def test_a_failure_is_noted_with_the_seed_that_brings_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(rng: random.Random, folder: Path) -> bool:
        if rng.random() < 0.5:
            raise ZeroDivisionError(folder)
        return True

    monkeypatch.setattr(course, "KINDS", {"made": fail})
    outcomes = course.run("x", minutes=1, most=50)
    assert 0 < len(outcomes["made"].failures) < 50
    assert outcomes["made"].accepted == 50 - len(outcomes["made"].failures)
    seed, told = outcomes["made"].failures[0]
    assert "ZeroDivisionError" in told
    assert seed in course.summary(outcomes)
    with pytest.raises(ZeroDivisionError):
        course.try_case("made", seed)
