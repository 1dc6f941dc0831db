"""The course of a campaign: kinds of cases, each for its share of the time, and the table of results."""

from __future__ import annotations

import random
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from campaign.accidents import try_accident, try_line
from campaign.batch_texts import try_batch
from campaign.children import PeakOfCase
from campaign.command_calls import try_command
from campaign.edges import try_edge
from campaign.graph_texts import try_file
from campaign.ground import Ground, at_pace, ground
from campaign.histories import try_history
from campaign.key_files import try_keys
from campaign.kills import try_kill, try_kill_of_server, try_kill_of_service
from campaign.ledger_nodes import try_ledger
from campaign.outside_files import try_outside
from campaign.party_files import try_party
from campaign.planted_files import try_planted
from campaign.request_nodes import try_requests
from campaign.schedules import try_schedule

__all__ = ["EVERY", "KINDS", "TRIALS", "Outcome", "run", "summary", "try_case"]

Attempt = Callable[[random.Random, Path], bool]
"""Tries one case in an empty folder; whether it was accepted. It raises where something is wrong."""
Trial = Callable[[random.Random, Path, Ground], bool]
"""Likewise on a server of the campaign's own."""

KINDS: Mapping[str, Attempt] = {
    "files": try_file,
    "commands": try_command,
    "batches": try_batch,
    "parties": try_party,
    "outside files": try_outside,
    "keys": try_keys,
}
TRIALS: Mapping[str, Trial] = {
    "kills": try_kill,
    "server kills": try_kill_of_server,
    "service kills": try_kill_of_service,
    "schedules": try_schedule,
    "histories": try_history,
    "accidents": try_accident,
    "lines": try_line,
    "requests": try_requests,
    "ledgers": try_ledger,
    "planted files": try_planted,
    "edges": try_edge,
}
EVERY = (*KINDS, *TRIALS)
SHARES: Mapping[str, float] = {
    **dict.fromkeys(KINDS, 0.05),
    "commands": 0.07,
    **{"keys": 0.02, "ledgers": 0.03, "planted files": 0.02},
    **{"kills": 0.14, "server kills": 0.08, "service kills": 0.04, "schedules": 0.08},
    "histories": 0.1,
    **{"accidents": 0.08, "lines": 0.06, "requests": 0.03, "edges": 0.05},
}
"""Of the time."""
LONGEST_SECONDS = 10.0
"""For a case without a server; trials have limits of their own."""
MOST_MIB = 300
"""The bound on what a case without a server adds to the memory of the campaign's process."""
LONGEST_OF_EDGES = 300.0
"""Seconds that must be left for a graph at the edge to begin."""


@dataclass
class Outcome:
    """What came of the cases of one kind; `mib` is the most memory that one of them added to the campaign's process."""

    tried: int = 0
    accepted: int = 0
    spent: float = 0.0
    slowest: float = 0.0
    mib: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)


def run(
    seed: str,
    *,
    minutes: float,
    most: int | None = None,
    kinds: Sequence[str] | None = None,
    before: Mapping[str, Outcome] = MappingProxyType({}),
    keep: Callable[[Mapping[str, Outcome]], object] = lambda _: None,
) -> dict[str, Outcome]:
    """Try cases of each kind, until the time is over or each has been tried so often.

    Args:
        seed: what the seeds of all cases are made from.
        minutes: the time, without the start of a server.
        most: cases of a kind; None for no bound.
        kinds: None for all.
        before: what came of earlier cases of the same seed; the next ones follow them.
        keep: called with all of it after each case on a server, and at the end.
    """
    outcomes = {kind: before.get(kind) or Outcome() for kind in kinds or EVERY}
    with ExitStack() as stack:
        there = stack.enter_context(ground()) if set(outcomes) & set(TRIALS) else None
        until = time.monotonic() + 60 * minutes
        with suppress(KeyboardInterrupt, SystemExit):  # who ends it early wants to see how far it came
            while kind := _next(outcomes, until - time.monotonic(), most):
                _note(outcomes[kind], kind, f"{seed}-{outcomes[kind].tried}", there)
                if kind in TRIALS:  # the others are too many, and are soon done again
                    keep(outcomes)
    keep(outcomes)
    return outcomes


def _next(outcomes: Mapping[str, Outcome], left: float, most: int | None) -> str | None:
    """The kind that has had the least of its share of the time."""
    open_ones = {kind: outcome for kind, outcome in outcomes.items() if most is None or outcome.tried < most}
    if left < LONGEST_OF_EDGES and most is None:
        open_ones.pop("edges", None)
    if left <= 0 or not open_ones:
        return None
    return min(open_ones, key=lambda kind: open_ones[kind].spent / SHARES.get(kind, 1.0))


def try_case(kind: str, seed: str, there: Ground | None = None) -> bool:
    """Try one case, whose seed says everything about it but what time decides."""
    rng = random.Random(f"{kind} {seed}")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pcneo-campaign-"))) / "case"
        folder.mkdir()
        if kind in KINDS:
            return KINDS[kind](rng, folder)
        return TRIALS[kind](rng, folder, there or stack.enter_context(ground()))


def _note(outcome: Outcome, kind: str, seed: str, there: Ground | None) -> None:
    outcome.tried += 1
    memory = PeakOfCase()
    began = time.monotonic()
    try:
        outcome.accepted += try_case(kind, seed, there)
    except Exception:  # noqa: BLE001 - whatever it is, it is what the campaign looks for
        outcome.failures.append((seed, traceback.format_exc(limit=-4)))
        if there is not None and kind in TRIALS:
            there.recover()
    seconds = time.monotonic() - began
    outcome.spent += seconds
    outcome.slowest = max(outcome.slowest, seconds)
    if kind not in KINDS:  # what a server does to the campaign's own memory is not what these are about
        return
    if seconds > at_pace(LONGEST_SECONDS):
        outcome.failures.append((seed, f"it took {seconds:.0f} s"))
    outcome.mib = max(outcome.mib, added := memory.added())
    if added > MOST_MIB:
        outcome.failures.append((seed, f"it took {added} MiB"))


def summary(outcomes: Mapping[str, Outcome]) -> str:
    """The table, and the first failures of each kind with the seeds that bring them back."""
    lines = [f"{'kind':<14}{'tried':>9}{'survived':>10}{'accepted':>10}{'slowest s':>11}{'MiB':>6}  first failure"]
    lines += [
        f"{kind:<14}{outcome.tried:>9,}{outcome.tried - len(outcome.failures):>10,}{outcome.accepted:>10,}"
        f"{outcome.slowest:>11.2f}{outcome.mib or '':>6}  " + (outcome.failures[0][0] if outcome.failures else "")
        for kind, outcome in outcomes.items()
    ]
    firsts = [
        f"\n{kind}, scripts/campaign --again {kind!r} {seed}:\n{said}"
        for kind, outcome in outcomes.items()
        for seed, said in outcome.failures[:3]
    ]
    return "\n".join([*lines, *firsts])
