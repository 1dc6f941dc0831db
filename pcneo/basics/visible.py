r"""Makes text safe to print (control characters become escapes such as `\u001b`) and CSV safe to open in a spreadsheet.

Anyone may have made the keys, names and files. JSON and CSV are for programs and keep every character that UTF-8 has.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Any

_OBEYED = re.compile(
    "["
    "\\u0000-\\u001f\\u007f-\\u009f"  # both kinds of control characters, which move the cursor or begin sequences
    "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069"  # these change the direction of the text after them
    "\\u2028\\u2029"  # ends of lines and paragraphs
    "\\ud800-\\udfff"  # lone surrogates: bytes that were not UTF-8
    "]"
)
_RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r", "'")


def visible(text: str, keep: str = "") -> str:
    """Return the text with every character that a terminal obeys written as its number."""
    return _OBEYED.sub(lambda match: match[0] if match[0] in keep else f"\\u{ord(match[0]):04x}", text)


def is_utf8(text: str) -> bool:
    """Whether a text can be encoded as UTF-8. Lone surrogates, which stand for undecodable bytes, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


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
