"""The results of a campaign, kept in a file, so that a run goes on where the last one ended, however it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from simulation.kept import read_kept, write_kept

from campaign.course import Outcome
from campaign.histories import SEEN

__all__ = ["Kept"]


class Kept:
    """A file with the outcomes of each kind, and the seed of all its cases.

    Attributes:
        seed: of the file, or of the run that makes it.
        outcomes: what came of each kind so far.
    """

    def __init__(self, file: Path, seed: str | None = None) -> None:
        """Read the file; there need not be one yet.

        Raises:
            ValueError: it is of another seed.
        """
        self._file = file
        kept = read_kept(file, seed)
        self.seed: str = kept["seed"]
        self.outcomes = {kind: _outcome(**values) for kind, values in kept.get("outcomes", {}).items()}
        SEEN.update(kept.get("in histories", {}))

    def keep(self, outcomes: Mapping[str, Outcome]) -> None:
        """Write what came of all kinds; those that this run leaves out stay as they were."""
        self.outcomes |= outcomes
        values = {kind: asdict(outcome) for kind, outcome in self.outcomes.items()}
        write_kept(self._file, {"seed": self.seed, "outcomes": values, "in histories": SEEN})


def _outcome(failures: list[list[str]], **values: float) -> Outcome:
    return Outcome(**values, failures=[(seed, said) for seed, said in failures])  # type: ignore[arg-type]
