"""A public file, as the people it was released to read it: counts, and everything that the file states about them."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from pcneo.basics.bounded_file import read_whole
from pcneo.basics.exact_numbers import exact_number
from pcneo.basics.frames import Table, rounded
from pcneo.basics.model import AnyPath, Key
from pcneo.errors import FileFormatError
from pcneo.privacy.outlook import how_far

_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?\Z")
_TEXTS = {"pcneo", "date", "p", "epsilon", "delta", "answersHash"}
"""Values of the record that stay text although some look like numbers, among them exact numbers."""
_NUMBERS = {
    *("total", "scale", "standardErrorOfTotal", "halfWidthOf95PercentInterval"),
    *("standardErrorOfACount", "halfWidthOf95PercentIntervalOfACount"),
}
"""Values of the record that must be numbers where they are present, since computations use them."""
_MOST_BYTES = 2**28
"""The most bytes of a public file; one with a million vertices has some 60 million with all columns."""
_LINE = re.compile(r"# (?:column (?P<column>\w+)|(?P<name>\w+)): (?P<value>.*)\n")


@dataclass(frozen=True)
class PublicRelease(Table):
    """What a public file holds.

    Attributes:
        record: everything in it except the columns, by the names there: mechanism, promise, k, total and others.
        columns: the columns by name, equally long: `key` and `count` among them, or only `total`.
        meanings: what each column means; empty for a file from an earlier version of pcneo.
    """

    record: Mapping[str, Any]
    columns: Mapping[str, Sequence[Any]] = field(repr=False)
    meanings: Mapping[str, str] = field(repr=False)

    def __repr__(self) -> str:
        """How many counts there are, and what they are."""
        counts = f"{len(self.columns['key']):,} counts" if "key" in self.columns else "a total"
        return f"Release of {counts}\n  {self.caption()}"

    @property
    def mechanism(self) -> str:
        """The mechanism's name."""
        return self.record["mechanism"]

    @property
    def promise(self) -> str:
        """What the release promises."""
        return self.record["promise"]

    @property
    def k(self) -> int:
        """How many vertices the counted cliques have."""
        return self.record["k"]

    @property
    def epsilon(self) -> Fraction:
        """ε, exactly."""
        return exact_number(self.record["epsilon"])

    @property
    def delta(self) -> Fraction:
        """δ, exactly; 0 for a mechanism that has none."""
        return exact_number(self.record["delta"])

    @property
    def total(self) -> float:
        """The total; `record["totalIs"]` says what it is."""
        return self.record["total"]

    @property
    def counts(self) -> dict[Key, int] | dict[Key, float]:
        """The counts by key; empty for a file with only a total."""
        if "key" not in self.columns:
            return {}
        return dict(zip(self.columns["key"], self.columns["count"], strict=True))

    @property
    def standard_errors(self) -> Sequence[float] | None:
        """The standard error of each count, with `respond` an upper estimate; None where none is published."""
        if "standardError" in self.columns:
            return self.columns["standardError"]
        error = self.record.get("standardErrorOfACount")
        return None if error is None or "key" not in self.columns else [error] * len(self.columns["key"])

    @property
    def standard_error_of_total(self) -> float | None:
        """The standard error of the total; None where it may not be published, or is not known."""
        return self.record.get("standardErrorOfTotal")

    @property
    def intervals(self) -> list[tuple[float, float]] | None:
        """A 95 % interval for each exact count; None where none is proved."""
        half = self.record.get("halfWidthOf95PercentIntervalOfACount")
        return None if half is None else [(count - half, count + half) for count in self.columns["count"]]

    def as_columns(self) -> dict[str, Sequence[Any]]:
        """Return the columns of the file, with standard error and interval of each count where they are known."""
        columns = dict(self.columns)
        if self.standard_errors is not None:
            columns["standardError"] = self.standard_errors
        if self.intervals is not None:
            low, high = zip(*self.intervals, strict=True) if self.intervals else ((), ())
            columns |= {"low": list(low), "high": list(high)}
        return columns

    def caption(self) -> str:
        """Return the text that goes above the table."""
        record = self.record
        errors = record.get("standardErrorOfTotal"), record.get("standardErrorOfACount")
        total = total_in_words(self.total, *errors, record.get("standardErrorsAre", ""))
        what = f"{self.mechanism}, k={self.k}, ε={record['epsilon']}: {total}."
        return " ".join(filter(None, [what, record.get("warning"), self.promise]))


def total_in_words(
    total: float, error_of_total: float | None, error_of_a_count: float | None, standard_errors_are: str = ""
) -> str:
    """Return a noisy total in words, with the standard errors that are published, and whether they are only bounds."""
    said, how = f"noisy total {_figure(total)}", how_far(standard_errors_are)
    if error_of_total is not None:
        said += f", standard error {how}{_figure(error_of_total)}"
    if error_of_a_count is not None:
        said += f"; standard error of a count {how}{rounded(error_of_a_count, 3)}"
    return said


def _figure(value: float) -> str:
    """A number without decimals where it is whole."""
    return f"{value:,.2f}".removesuffix(".00")


def read_release(path: AnyPath) -> PublicRelease:
    """Read a public file of `pcneo release` or `pcneo party collect`.

    >>> import pcneo
    >>> pcneo.read_release("nowhere.csv")
    Traceback (most recent call last):
    ...
    pcneo.errors.FileFormatError: nowhere.csv: there is no such file

    Args:
        path: the file, .csv or .json.

    Returns:
        The counts, and everything that the file states about them.

    Raises:
        FileFormatError: the file cannot be read, or is not a public file.
    """
    path = Path(path)
    if path.name.endswith(".answers.gz") and path.exists():
        computes = "`pcneo release --from` (in Python `answers_from`) computes counts from it"
        raise FileFormatError(f"{path} holds answers, not counts; {computes}.", path=path)
    try:
        text = read_whole(path, _MOST_BYTES).decode("utf-8")
        record, columns = _from_json(text) if path.suffix.lower() == ".json" else _from_csv(text)
        meanings = record.pop("columns", {})
        record = {name: str(value) if name in _TEXTS else value for name, value in record.items()}
        lacking = {"mechanism", "promise", "k", "epsilon", "delta", "total"} - record.keys()
        lacking |= {"key", "count"} - columns.keys() if columns.keys() != {"total"} else set()
        if lacking:
            raise ValueError(f"it has no {', '.join(sorted(lacking))}")
        if "notice" in record:  # only the owner's report has that name
            raise ValueError("it is the owner's report, which only the owner may see")
        for name in ("epsilon", "delta"):
            exact_number(record[name])
        _check_kinds(record, columns)
    except (ValueError, TypeError, AttributeError, csv.Error, RecursionError) as error:
        raise FileFormatError(f"{path} is not a public file of a release: {error}.", path=path) from error
    return PublicRelease(record, columns, meanings)


def _check_kinds(record: Mapping[str, Any], columns: Mapping[str, Sequence[Any]]) -> None:
    """Refuse values that are not the numbers, texts or keys that they should be."""
    for name in ("mechanism", "promise"):
        if not isinstance(record[name], str):
            raise ValueError(f"its {name} is not text")
    if type(record["k"]) is not int:
        raise ValueError("its k is not a whole number")
    for name in _NUMBERS & record.keys():
        if not _is_number(record[name]):
            raise ValueError(f"its {name} is not a number")
    for name, values in columns.items():
        if not all(map(_is_key if name == "key" else _is_number, values)):
            raise ValueError(f"its column {name} has a value that is not a {'key' if name == 'key' else 'number'}")


def _is_number(value: object) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _is_key(value: object) -> bool:
    return type(value) is int or isinstance(value, str)


def _from_json(text: str) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    record = json.loads(text)
    if not isinstance(record, dict):
        raise ValueError("it has no names")
    if "counts" not in record and "total" in record:
        return record, {"total": [record["total"]]}
    if not isinstance(rows := record.pop("counts", None), list):
        raise ValueError("it has no counts")
    names = list(rows[0]) if rows else ["key", "count"]
    if any(list(row) != names for row in rows):
        raise ValueError("its rows have different columns")
    return record, {name: [row[name] for row in rows] for name in names}


def _from_csv(text: str) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    record: dict[str, Any] = {}
    meanings: dict[str, str] = {}
    at = 0
    while text.startswith("#", at):
        if line := _LINE.match(text, at):
            if line["column"]:
                meanings[line["column"]] = line["value"]
            else:
                record[line["name"]] = _value(line["name"], line["value"])
        end = text.find("\n", at)
        at = len(text) if end < 0 else end + 1
    if not record:
        raise ValueError("it does not begin with lines such as `# mechanism: edge`")
    rows = io.StringIO(text[at:], newline="")
    names = rows.readline().rstrip("\r\n").split(",")
    key_is_text = text.startswith('"', at + rows.tell())  # keys are all texts, which are quoted, or all integers
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for number, row in enumerate(csv.reader(rows, strict=True), 1):
        if len(row) != len(names):
            raise ValueError(f"row {number} has {len(row)} cells, not {len(names)}")
        for name, cell in zip(names, row, strict=True):
            columns[name].append(cell if name == "key" and key_is_text else _number(cell))
    return {**record, "columns": meanings}, columns


def _value(name: str, text: str) -> Any:
    return _number(text) if name not in _TEXTS and _NUMBER.match(text) else text


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)
