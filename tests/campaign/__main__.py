"""`scripts/campaign [--minutes N] [--seed S] [--kind KIND]`, or `--again KIND SEED` for one case.

`--schedules FILE` runs simulated schedules instead, which need no server. Their results are kept in the file, and
the next run with it goes on from there; `--sum FILE` does the same for all other kinds.
"""

from __future__ import annotations

import argparse
import secrets
import sys
from pathlib import Path
from typing import Any

from simulation import many
from simulation.kept import run_kept

from campaign.course import EVERY, run, summary, try_case
from campaign.histories import seen
from campaign.kept import Kept
from pcneo.basics.signals import signals_interrupt


def main() -> None:
    """Run a campaign and print its table; exit code 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="scripts/campaign", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", default=None, help="any text; drawn at random and printed if left out")
    parser.add_argument("--again", nargs=2, metavar=("KIND", "SEED"), help=f"repeat one case of {', '.join(EVERY)}")
    parser.add_argument("--kind", action="append", choices=EVERY, help="only this kind; may be given several times")
    parser.add_argument("--sum", type=Path, metavar="FILE", help="keep the results of this and later runs in it")
    parser.add_argument("--schedules", type=Path, metavar="FILE", help="run simulated schedules; keep the results")
    parser.add_argument("--replay", nargs=2, metavar=("STAGE", "SEED"), help="print the steps of one schedule")
    given = parser.parse_args()
    if given.replay:
        steps, error = many.replay(*given.replay)
        print("\n".join(steps), error or "every rule holds", sep="\n")
        sys.exit(error is not None)
    if given.again:
        accepted = try_case(*given.again)
        print("accepted" if accepted else "refused")
        return
    if given.schedules:
        tally = run_kept(given.schedules, given.seed, 60 * given.minutes)
        print(tally)
        sys.exit(bool(tally.failures))
    kept = Kept(given.sum, given.seed) if given.sum else None
    seed = kept.seed if kept else given.seed or secrets.token_hex(4)
    print(f"Seed {seed}, {given.minutes:g} minutes", flush=True)
    going_on: Any = {"before": kept.outcomes, "keep": kept.keep} if kept else {}
    outcomes = run(seed, minutes=given.minutes, kinds=given.kind, **going_on)
    print(summary(outcomes))
    if seen():
        print(f"in histories and kills of the server: {seen()}")
    sys.exit(any(outcome.failures for outcome in outcomes.values()))


if __name__ == "__main__":
    with signals_interrupt():  # so that its server ends with it
        main()
