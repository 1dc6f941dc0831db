"""Text for terminals: characters that a terminal would obey, or that reorder text, are written like `\\u001b`.

Anyone may have made the keys, names and files. JSON and CSV are for programs and keep every character that UTF-8 has.
"""

from __future__ import annotations

import re

_OBEYED = re.compile(
    "["
    "\\u0000-\\u001f\\u007f-\\u009f"  # both kinds of control characters, which move the cursor or begin sequences
    "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069"  # these change the direction of the text after them
    "\\u2028\\u2029"  # ends of lines and paragraphs
    "\\ud800-\\udfff"  # lone surrogates: bytes that were not UTF-8
    "]"
)


def visible(text: str, keep: str = "") -> str:
    """Return the text with every character that a terminal obeys written as its number."""
    return _OBEYED.sub(lambda match: match[0] if match[0] in keep else f"\\u{ord(match[0]):04x}", text)


def is_utf8(text: str) -> bool:
    """Whether UTF-8 can write a text: it holds no half of a surrogate pair, as stands for bytes that were not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
