"""What a key looks like as text."""

from __future__ import annotations

import re

from pcneo.basics.model import Key

__all__ = ["is_integer_key", "key_text"]

_CANONICAL_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
_INT64 = range(-(2**63), 2**63)


def is_integer_key(text: str) -> bool:
    """Whether `text` is a 64-bit integer in canonical form: `7` and `-7` are; `007`, `+7`, `-0` and 2**63 are not."""
    return _CANONICAL_INTEGER.fullmatch(text) is not None and int(text) in _INT64


def key_text(key: Key) -> str:
    """Return a key as messages show it: text in quotes, but not a number, which a command line passes as text, too."""
    return repr(key) if isinstance(key, str) and not is_integer_key(key) else str(key)
