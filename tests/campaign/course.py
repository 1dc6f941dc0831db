"""The course of a campaign: kinds of cases in turns until the time is over, and the table of what came of them."""

from __future__ import annotations

import random
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from campaign.batch_texts import try_batch
from campaign.command_calls import try_command
from campaign.graph_texts import try_file

__all__ = ["KINDS", "Outcome", "run", "summary", "try_case"]

Attempt = Callable[[random.Random, Path], bool]
"""Tries one case in an empty folder; whether it was accepted. It raises where something is wrong."""

KINDS: Mapping[str, Attempt] = {"files": try_file, "commands": try_command, "batches": try_batch}
LONGEST_SECONDS = 10.0


@dataclass
class Outcome:
    """What came of the cases of one kind."""

    tried: int = 0
    accepted: int = 0
    slowest: float = 0.0
    failures: list[tuple[str, str]] = field(default_factory=list)


def run(seed: str, *, minutes: float, most: int | None = None) -> dict[str, Outcome]:
    """Try cases of each kind in turns, until the time is over or each has been tried so often."""
    outcomes = {kind: Outcome() for kind in KINDS}
    until, number = time.monotonic() + 60 * minutes, 0
    while time.monotonic() < until and (most is None or number < most):
        for kind, outcome in outcomes.items():
            _note(outcome, kind, f"{seed}-{number}")
        number += 1
    return outcomes


def try_case(kind: str, seed: str) -> bool:
    """Try one case, whose seed says everything about it."""
    with tempfile.TemporaryDirectory(prefix="pcneo-campaign-") as folder:
        return KINDS[kind](random.Random(f"{kind} {seed}"), Path(folder))


def _note(outcome: Outcome, kind: str, seed: str) -> None:
    outcome.tried += 1
    began = time.monotonic()
    try:
        outcome.accepted += try_case(kind, seed)
    except Exception:  # noqa: BLE001 - whatever it is, it is what the campaign looks for
        outcome.failures.append((seed, traceback.format_exc(limit=-4)))
    seconds = time.monotonic() - began
    outcome.slowest = max(outcome.slowest, seconds)
    if seconds > LONGEST_SECONDS:
        outcome.failures.append((seed, f"it took {seconds:.0f} s"))


def summary(outcomes: Mapping[str, Outcome]) -> str:
    """The table, and the first failure of each kind with the seed that brings it back."""
    lines = [f"{'kind':<10}{'tried':>9}{'accepted':>10}{'failed':>8}{'slowest s':>11}  first failure"]
    lines += [
        f"{kind:<10}{each.tried:>9,}{each.accepted:>10,}{len(each.failures):>8}{each.slowest:>11.2f}  "
        + (each.failures[0][0] if each.failures else "")
        for kind, each in outcomes.items()
    ]
    firsts = [
        f"\n{kind}, scripts/campaign --again {kind} {each.failures[0][0]}:\n{each.failures[0][1]}"
        for kind, each in outcomes.items()
        if each.failures
    ]
    return "\n".join([*lines, *firsts])
