"""Rows of CSV of which a spreadsheet runs no cell."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

_RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r", "'")


def csv_row(values: Sequence[Any]) -> str:
    r"""Return a row of CSV that no spreadsheet runs, without a line end.

    A text that begins with one of `=`, `+`, `-`, `@`, a tab, a carriage return or `'` gets a `'` before it; numbers
    stay as they are.
    """
    out = io.StringIO()
    csv.writer(out).writerow(map(_guarded, values))  # which quotes what is in its own line end, \r and \n
    return out.getvalue().removesuffix("\r\n")


def _guarded(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_RUN_BY_SPREADSHEETS) else value
