"""What rests on the order of events, tried in many simulated orders; and bugs that this must find."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from lengths import examples, usual_or_thorough

from simulation.bugs import BUGS
from simulation.many import LEAST_STEPS, STAGES, replay, run_many
from simulation.standins import installed

RARE: dict[str, int] = dict.fromkeys(("a lost fence", "a lost lock goes unnoticed", "a token that is not read"), 4_000)
"""Bugs that few schedules show, and within how many they are found; they are looked for under `--thorough` alone."""
MOST = 400
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
    tally = run_many("the suite", stages=[stage], seconds=seconds, least=60)
    print(tally)
    assert not tally.failures, tally
    assert tally.schedules > tally.short
    never = {"killed", "BusyError", *_WANTED[stage]} - set(tally.seen)
    assert not never, f"these did not happen once: {never}"


_WANTED = {
    "ledger": {"release", "total", "refused", "release with a total", "DatabaseError"},
    "service": {
        "published beside a whole graph",
        "request complete",
        "request cancelled",
        "answered",
        "whole reads",
        "reads at a version",
        "annotate",
    },
}
"""What has to happen, lest a schedule in which nobody does anything pass for one in which all is well."""


@pytest.mark.parametrize("stage", STAGES)
def test_a_seed_brings_back_the_same_steps_in_another_process(stage: str) -> None:
    script = f"from simulation.many import replay; print('\\n'.join(replay({stage!r}, 'again')[0]))"
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
    assert traces[0] == traces[1] == replay(stage, "again")[0]
    assert len(traces[0]) >= LEAST_STEPS


@pytest.mark.parametrize(("stage", "name"), PLANTED)
def test_a_planted_bug_is_found_and_its_seed_brings_it_back(stage: str, name: str) -> None:
    with installed(STAGES[stage].replaced), BUGS[stage][name]():
        tally = run_many("planted", stages=[stage], most=RARE.get(name, MOST), stops=True)
        assert tally.failures, f"{name} is not found in {tally.schedules:,} schedules"
        (found, why), *_ = tally.failures
        steps, again = replay(stage, found.removeprefix(f"{stage} "))
    assert f"{type(again).__name__}: {again}" == why
    assert steps
