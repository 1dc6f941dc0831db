"""Text and CSV in the folders of the evaluation; each file appears whole or not."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from pcneo.basics.whole_file import whole_file


def write_text(path: Path, text: str) -> Path:
    """Write a file, in place of an earlier one."""
    with whole_file(path, replace=True) as file:
        file.write(text.encode())
    return path


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV, under the names of their columns."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()
