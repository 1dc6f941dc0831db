"""Schedules whose results are kept in a file, so that a run goes on where the last one ended, however it ended."""

from __future__ import annotations

import json
import secrets
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simulation.many import Tally, run_many

__all__ = ["TURNS", "read_kept", "run_kept", "write_kept"]

TURNS = ("ledger",) * 4 + ("service",)
"""Which stage has its turn: a schedule of the service takes four times as long, so that each has half of the time."""
ROUND_SECONDS = 20.0
"""How often the sum is written: so much is lost at most."""


def run_kept(file: Path, seed: str | None, seconds: float, *, round_seconds: float = ROUND_SECONDS) -> Tally:
    """Run schedules for some seconds after those that the file knows, and return the sum of all.

    Args:
        file: made where it is not there yet.
        seed: as for `run_many`; None for the file's own, or a new one.
        seconds: for how long.
        round_seconds: how often the file is written.

    Raises:
        ValueError: the file is of another seed.
    """
    kept = read_kept(file, seed)
    tally = _read(kept)
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        done = tally.schedules + tally.short
        tally += run_many(kept["seed"], seconds=min(left, round_seconds), first=done, least=1, stages=TURNS)
        write_kept(file, {"seed": kept["seed"], **vars(tally)})
    return tally


def read_kept(file: Path, seed: str | None) -> dict[str, Any]:
    """Read what a file has kept; where there is none yet, begin with a seed, drawn if none is given.

    Raises:
        ValueError: the file is of another seed.
    """
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"seed": seed or secrets.token_hex(4)}
    if seed not in (None, kept["seed"]):
        raise ValueError(f"{file} is of the seed {kept['seed']}, not {seed}")
    return kept


def write_kept(file: Path, values: Mapping[str, Any]) -> None:
    """Replace a file at once: whoever is killed leaves the one before."""
    part = file.with_name(f"{file.name}.part")
    part.write_text(json.dumps(values, indent=1), encoding="utf-8")
    part.replace(file)


def _read(kept: Mapping[str, Any]) -> Tally:
    values = {name: value for name, value in kept.items() if name != "seed"}
    tally = Tally(**values)
    tally.seen = Counter(tally.seen)
    tally.failures = [(seed, why) for seed, why in tally.failures]
    return tally
