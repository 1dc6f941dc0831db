"""What rests on the order of events, tried in many simulated orders; and bugs that this must find."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from lengths import examples, usual_or_thorough

from simulation.bugs import BUGS
from simulation.kept import TURNS, run_kept
from simulation.many import LEAST_STEPS, STAGES, replay, run_many
from simulation.standins import installed

RARE: dict[str, int] = {
    **dict.fromkeys(
        (
            *("a lost fence", "what is lent is not fenced"),
            *("the lock of a node that is gone", "a ledger that is moved in two steps", "totals that are counted"),
        ),
        8_000,
    ),
    "what is published is not fenced": 30_000,
}
"""Bugs that few schedules show, and within how many they are found; they are looked for under `--thorough` alone."""
SELDOM = {"a lost lock goes unnoticed": 2_500, "a ledger that is moved under one lock": 2_500}
"""Likewise, within so few that they are always looked for."""
MOST = 600
"""Schedules within which any other planted bug is to be found."""
PLANTED = [
    pytest.param(stage, name, id=name, marks=[pytest.mark.thorough] if name in RARE else [])
    for stage, bugs in BUGS.items()
    for name in bugs
]


@pytest.mark.parametrize("stage", STAGES)
def test_what_must_hold_does_in_every_order(stage: str) -> None:
    """Ten seconds for all stages, five minutes under `--thorough`; the seeds are always the same ones."""
    seconds = usual_or_thorough(examples(10), 300) / len(STAGES)
    tally = run_many("the suite", stages=[stage], seconds=seconds, least=200)
    print(tally)
    assert not tally.failures, tally
    assert tally.schedules > tally.short
    never = {"killed", "BusyError", *_WANTED[stage]} - set(tally.seen)
    assert not never, f"these did not happen once: {never}"


_WANTED = {
    "ledger": {"release", "total", "refused", "release with a total", "DatabaseError", "same", "forget", "discard"},
    "service": {
        "published beside a whole graph",
        "request complete",
        "request cancelled",
        "release",
        "answered",
        "whole reads",
        "reads at a version",
        "annotate",
    },
}
"""What has to happen, lest a schedule in which nobody does anything pass for one in which all is well."""


def test_a_run_goes_on_where_the_one_before_has_ended(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    first = run_kept(file, "kept", 0.3, round_seconds=0.1)
    both = run_kept(file, None, 0.3, round_seconds=0.1)
    assert both.schedules > first.schedules > 0
    whole = run_many("kept", most=both.schedules + both.short, stages=TURNS)
    assert replace(whole, seconds=0.0) == replace(both, seconds=0.0)
    with pytest.raises(ValueError, match="is of the seed kept, not another"):
        run_kept(file, "another", 0.3)


@pytest.mark.long
@pytest.mark.parametrize("stage", STAGES)
def test_a_seed_brings_back_the_same_steps_in_another_process(stage: str) -> None:
    script = f"from simulation.many import replay; print('\\n'.join(replay({stage!r}, 'once more')[0]))"
    traces = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": hashes},
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        ).stdout.splitlines()
        for hashes in ("1", "2")
    ]
    assert traces[0] == traces[1] == replay(stage, "once more")[0]
    assert len(traces[0]) >= LEAST_STEPS


@pytest.mark.long
@pytest.mark.parametrize(("stage", "name"), PLANTED)
def test_a_planted_bug_is_found_and_its_seed_brings_it_back(stage: str, name: str) -> None:
    with installed(STAGES[stage].replaced), BUGS[stage][name]():
        tally = run_many("once", stages=[stage], most={**RARE, **SELDOM}.get(name, MOST), stops=True)
        assert tally.failures, f"{name} is not found in {tally.schedules:,} schedules"
        (found, why), *_ = tally.failures
        steps, again = replay(stage, found.removeprefix(f"{stage} "))
    assert f"{type(again).__name__}: {again}" == why
    assert steps
