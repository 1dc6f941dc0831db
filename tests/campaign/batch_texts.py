"""Batch files of releases: accepted or refused, and no other file is left beside them."""

from __future__ import annotations

import csv
import io
import random
from contextlib import chdir
from pathlib import Path

from campaign.texts import damaged, hostile_text, letters, number_text, one_of
from pcneo.errors import FileFormatError, ParameterError
from pcneo.release import check_requests, read_batch
from pcneo.release.request import COLUMNS, NEEDED

__all__ = ["try_batch"]


def try_batch(rng: random.Random, folder: Path) -> bool:
    """Write a batch file, read it and check what it asks for; whether it was accepted."""
    columns = [
        *NEEDED,
        *rng.sample([name for name in COLUMNS if name not in NEEDED], rng.randint(0, 3)),
    ]
    rng.shuffle(columns)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns if rng.random() < 0.95 else [*columns, hostile_text(rng)])
    rows = rng.randint(1, 4)
    for number in range(rows):
        writer.writerow([_cell(rng, name, number) for name in columns])
    content = out.getvalue().encode()
    if rng.random() < 0.2:
        content = damaged(rng, content)
    path = folder / "batch"
    path.write_bytes(content)
    try:
        with chdir(folder):
            requests = read_batch(path)
            check_requests(requests)
    except (FileFormatError, ParameterError):
        accepted = False
    else:
        accepted = True
    assert [file.name for file in folder.iterdir()] == ["batch"]
    return accepted


def _cell(rng: random.Random, name: str, number: int) -> str:
    if rng.random() < 0.02:
        return hostile_text(rng)
    match name:
        case "to":
            return one_of(
                rng, [f"out{number}.csv", f"out{number}.json"], ["a\0.csv", ".", "x" * 300 + ".csv", "a.txt"], 0.05
            )
        case "epsilon":
            return number_text(rng, 0.05)
        case "k":
            return one_of(rng, ["", "3", "4"], ["2", "x", "9" * 50], 0.05)
        case "mechanism":
            return one_of(rng, ["critical", "edge"], ["laplace", ""], 0.05)
        case "p":
            return one_of(rng, ["", "0.3", "1/3"], ["2", "x"], 0.05)
        case "delta" | "epsilon_1" | "h":
            return one_of(rng, [""], ["0.1", "3", "x"])
        case _:
            return one_of(rng, ["", letters(rng)], [hostile_text(rng)])
