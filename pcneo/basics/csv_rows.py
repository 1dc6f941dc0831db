"""Rows of CSV whose cells a spreadsheet does not run as formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

_RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r", "'")


def csv_row(values: Sequence[Any]) -> str:
    r"""Return a row of CSV whose cells no spreadsheet runs, without a line end.

    Text that begins with `=`, `+`, `-`, `@`, a tab, a carriage return or `'` gets a `'` before it; numbers stay as
    they are.
    """
    out = io.StringIO()
    csv.writer(out).writerow(map(_guarded, values))  # quotes cells with \r or \n, the characters of its own line end
    return out.getvalue().removesuffix("\r\n")


def _guarded(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_RUN_BY_SPREADSHEETS) else value
