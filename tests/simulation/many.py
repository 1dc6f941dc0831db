"""Many schedules, one seed after another, and their results."""

from __future__ import annotations

import contextlib
import logging
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from simulation.ledger import Ledger
from simulation.processes import Stage
from simulation.service import ServiceStage
from simulation.standins import installed

__all__ = ["LEAST_STEPS", "STAGES", "Tally", "replay", "run_many"]

STAGES: Mapping[str, type[Stage]] = {"ledger": Ledger, "service": ServiceStage}
LEAST_STEPS = 40
"""A schedule with fewer is run, and not counted."""


@dataclass
class Tally:
    """What came of some schedules.

    Attributes:
        schedules: those of `LEAST_STEPS` steps at least.
        short: the others.
        steps: of all of them.
        seconds: of this processor.
        seen: how often what happened.
        failures: the seeds that failed, and how.
    """

    schedules: int = 0
    short: int = 0
    steps: int = 0
    seconds: float = 0.0
    seen: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, str]] = field(default_factory=list)

    def __add__(self, other: Tally) -> Tally:
        """Both together."""
        return Tally(
            self.schedules + other.schedules,
            self.short + other.short,
            self.steps + other.steps,
            self.seconds + other.seconds,
            self.seen + other.seen,
            self.failures + other.failures,
        )

    def __str__(self) -> str:
        """For people: a line of figures, one of what happened, and the failures."""
        rate = self.schedules / self.seconds if self.seconds else 0.0
        happened = ", ".join(f"{what} {times:,}" for what, times in sorted(self.seen.items()))
        lines = [
            f"{self.schedules:,} schedules of {LEAST_STEPS} steps or more ({self.short:,} shorter), "
            f"{self.steps:,} steps, {self.seconds:.0f} s of processor time, {rate:.0f} a second, "
            f"{len(self.failures):,} failed",
            happened,
        ]
        return "\n".join([*lines, *(f"{seed}: {why}" for seed, why in self.failures[:5])])


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Without the log, which takes as long as all the rest."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def run_many(
    seed: str,
    *,
    most: int | None = None,
    seconds: float | None = None,
    first: int = 0,
    least: int = 0,
    stages: Sequence[str] = tuple(STAGES),
    stops: bool = False,
) -> Tally:
    """Run schedules `SEED-0`, `SEED-1` and so on, the stages by turns.

    Args:
        seed: any text.
        most: how many; None for as many as the seconds take.
        seconds: for how long; None for no bound.
        first: the number to begin with.
        least: so many in any case, however slow the machine is.
        stages: which of them.
        stops: whether to end with the first failure.
    """
    tally, until, began = Tally(), None if seconds is None else time.monotonic() + seconds, time.process_time()
    number = first
    replaced = {module: names for stage in stages for module, names in STAGES[stage].replaced.items()}
    with installed(replaced), _silent():
        while (most is None or number < first + most) and (
            until is None or number < first + least or time.monotonic() < until
        ):
            name = stages[number % len(stages)]
            stage = STAGES[name](f"{seed}-{number}")
            try:
                stage.run()
            except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
                tally.failures.append((f"{name} {seed}-{number}", f"{type(error).__name__}: {error}"))
            if stage.world.steps >= LEAST_STEPS:
                tally.schedules += 1
            else:
                tally.short += 1
            tally.steps += stage.world.steps
            tally.seen += stage.seen
            number += 1
            if stops and tally.failures:
                break
    tally.seconds = time.process_time() - began
    return tally


def replay(stage: str, seed: str) -> tuple[list[str], Exception | None]:
    """Run one schedule again; return its steps, and what ended it, if anything did."""
    with installed(STAGES[stage].replaced), _silent():
        again = STAGES[stage](seed, traced=True)
        try:
            again.run()
        except Exception as error:  # noqa: BLE001 - as above
            return again.world.trace or [], error
    return again.world.trace or [], None
