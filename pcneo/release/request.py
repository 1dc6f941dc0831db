"""What is asked for: releases named one by one or as rows of a file, and where each one goes."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pcneo.errors import FileFormatError, ParameterError
from pcneo.model import AnyPath
from pcneo.release.outputs import check_writable

__all__ = ["Asked", "check_destinations", "read_batch"]

COLUMNS = ("mechanism", "k", "epsilon", "delta", "epsilon_1", "h", "graph", "p", "score", "run", "to")
SUFFIXES = (".csv", ".json")


@dataclass(frozen=True)
class Asked:
    """One release as a person asks for it; numbers of privacy as they were written.

    Attributes:
        to: the public file, `.csv` or `.json`.
        mechanism: `critical`, `edge`, `elv` or `published`.
        k: vertices of the cliques.
        epsilon, delta, epsilon_1, h: None for the default where the mechanism has one.
        graph, p, score, run: which stored run; each needed only where more than one fits. `edge` and `elv` take no p,
            score or run.
        report: the owner's report, `.md`; its JSON lies beside it. By default `to` with `.owner.md`.
    """

    to: AnyPath
    mechanism: str = "critical"
    k: int = 3
    epsilon: object = None
    delta: object = None
    epsilon_1: object = None
    h: int | None = None
    graph: str | None = None
    p: object = None
    score: str | None = None
    run: str | None = None
    report: AnyPath | None = None

    @property
    def public(self) -> Path:
        """The public file."""
        return Path(self.to)

    @property
    def reports(self) -> tuple[Path, Path]:
        """The owner's report in Markdown and in JSON."""
        markdown = self.public.with_suffix(".owner.md") if self.report is None else Path(self.report)
        return markdown, markdown.with_suffix(".json")


def read_batch(path: AnyPath) -> list[Asked]:
    """Read releases from a CSV file, one per row.

    Args:
        path: the file; its columns are among `COLUMNS`, and an empty cell means the default.

    Raises:
        FileFormatError: a column is unknown or a cell cannot be read; names the line.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            names = reader.fieldnames or ()
            if not {"to", "epsilon"} <= set(names) <= set(COLUMNS) or len(set(names)) < len(names):
                raise FileFormatError(
                    f"{path}, line 1: the columns are among {', '.join(COLUMNS)}, each once, with `to` and `epsilon`.",
                    path=path,
                    line=1,
                )
            return [_row(path, reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(f"{path} cannot be read: {error}.", path=path) from error


def _row(path: Path, line: int, row: Mapping[str | None, str | None]) -> Asked:
    if None in row:
        raise FileFormatError(f"{path}, line {line}: more cells than columns.", path=path, line=line)
    cells = {name: (value or "").strip() for name, value in row.items()}
    try:
        return Asked(
            to=Path(cells["to"]) if cells["to"] else _missing("to"),
            mechanism=cells.get("mechanism") or "critical",
            k=_whole("k", cells.get("k") or "3"),
            epsilon=cells.get("epsilon") or _missing("epsilon"),
            delta=cells.get("delta") or None,
            epsilon_1=cells.get("epsilon_1") or None,
            h=_whole("h", cells["h"]) if cells.get("h") else None,
            graph=cells.get("graph") or None,
            p=cells.get("p") or None,
            score=cells.get("score") or None,
            run=cells.get("run") or None,
        )
    except ValueError as error:
        raise FileFormatError(f"{path}, line {line}: {error}.", path=path, line=line) from error


def _missing(name: str) -> Path:
    raise ValueError(f"the cell {name!r} is empty")


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{name} is {text!r}, not a whole number") from None


def check_destinations(asked: Sequence[Asked]) -> None:
    """Refuse, before anything is spent, destinations that cannot be written or that would meet.

    Raises:
        ParameterError: says which and why.
    """
    taken: set[Path] = set()
    for one in asked:
        if one.public.suffix not in SUFFIXES:
            raise ParameterError(f"The public file {one.to} must end in .csv or .json.", name="to", value=one.to)
        if one.report is not None and one.reports[0].suffix != ".md":
            raise ParameterError(f"The report {one.report} must end in .md.", name="report", value=one.report)
        for path in (one.public, *one.reports):
            if path.resolve() in taken:
                raise ParameterError(
                    f"{path} would be written twice; give each release its own.", name="to", value=path
                )
            check_writable(path)
            taken.add(path.resolve())
