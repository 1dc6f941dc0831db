"""Text, JSON and CSV in the folders of the evaluation; each file appears whole or not."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from pcneo.basics.config import __version__
from pcneo.basics.model import Graph
from pcneo.basics.whole_file import whole_file
from pcneo.graph.hashes import fingerprint
from pcneo.search import REVISION


def write_text(path: Path, text: str) -> Path:
    """Write a file, in place of an earlier one."""
    with whole_file(path, replace=True) as file:
        file.write(text.encode())
    return path


def computed_once(folder: Path, graph: Graph, settings: Sequence[object], compute: Callable[[], object]) -> Any:
    """Return what was computed of the same graph with the same settings and searches: the folder keeps it as JSON.

    If it does not, it is computed and written first. Settings must be what JSON can hold.
    """
    asked = json.dumps([__version__, REVISION, fingerprint(graph, b""), *settings])
    path = folder / f"{hashlib.sha256(asked.encode()).hexdigest()[:16]}.json"
    if not path.is_file():
        write_text(path, json.dumps(compute(), indent=1) + "\n")
    return json.loads(path.read_text(encoding="utf-8"))


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV, under the names of their columns."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()
