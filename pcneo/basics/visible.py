"""Text for terminals: what a terminal would obey, or show in another order, is written as `\\u001b`.

Keys, names and files are of anybody's making. JSON and CSV are for programs and keep every character.
"""

from __future__ import annotations

import re

_OBEYED = re.compile(
    "["
    "\\u0000-\\u001f\\u007f-\\u009f"  # controls of both kinds, which move the cursor or begin sequences
    "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069"  # they turn the order of what follows
    "\\u2028\\u2029"  # ends of lines and paragraphs
    "\\ud800-\\udfff"  # halves of pairs: bytes that were no UTF-8
    "]"
)


def visible(text: str, keep: str = "") -> str:
    """Return a text in which every character that a terminal obeys is written by its number."""
    return _OBEYED.sub(lambda match: match[0] if match[0] in keep else f"\\u{ord(match[0]):04x}", text)
