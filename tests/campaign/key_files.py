"""Keys of any text through the files that hold them: what was written is read back as it was."""

from __future__ import annotations

import random
from pathlib import Path

import round_trips

from campaign.texts import any_name, hostile_text

__all__ = ["try_keys"]

KINDS = [
    *(round_trips.public_csv, round_trips.public_json, round_trips.answers_of_respond),
    *(round_trips.answers_of_critical, round_trips.cohesions, round_trips.rows_of_a_stream),
]
LINES = ["\n", "\r\n", "\r", "\n# ", '"', '","', "#", "\x00"]
"""What ends a line, a cell or a comment for somebody."""


def try_keys(rng: random.Random, folder: Path) -> bool:
    """Write a file of some kind with keys of any text, and read it; it is always accepted."""
    keys: set[str] = set()
    while len(keys) < 6:
        parts = [rng.choice([hostile_text, any_name])(rng) for _ in range(rng.randint(1, 3))]
        keys.add(rng.choice(LINES).join(parts) * (1_000 if rng.random() < 0.02 else 1))
    rng.choice(KINDS)(sorted(keys), folder)
    return True
