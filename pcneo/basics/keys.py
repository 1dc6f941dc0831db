"""What may be a key, and how messages show one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from pcneo.basics.model import Key
from pcneo.basics.spelling import did_you_mean
from pcneo.basics.visible import is_utf8
from pcneo.errors import ParameterError

_CANONICAL_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
INT64 = range(-(2**63), 2**63)
_MOST_COMPARED = 10_000
"""With more keys than this, no similar key is suggested: comparing them takes seconds."""


def is_integer_key(text: str) -> bool:
    """Whether `text` is a 64-bit integer in canonical form: `7` and `-7` are; `007`, `+7`, `-0` and 2**63 are not."""
    return _CANONICAL_INTEGER.fullmatch(text) is not None and int(text) in INT64


def key_text(key: Key) -> str:
    """Return a key as messages show it: text in quotes, except numbers, which a command line also passes as text."""
    return repr(key) if isinstance(key, str) and not is_integer_key(key) else str(key)


def key_meant(key: Key, known: Collection[Key]) -> str:
    """Return a question that suggests a key in place of an unknown one, as `did_you_mean` does."""
    if not isinstance(key, str):
        return ""
    if is_integer_key(key) and int(key) in known:
        return f" Did you mean the integer {key}, without quotes?"
    if len(known) > _MOST_COMPARED:
        return ""
    return did_you_mean(key, [name for name in known if isinstance(name, str)])


def of_other_kind(key: Key) -> str:
    """Return an addition to a sentence about a key, for when the graph's keys are of the other kind."""
    return f"; keys of this graph are {'integers' if isinstance(key, str) else 'text'}"


def in_order(keys: Iterable[Key]) -> list[Key]:
    """Sort keys where both kinds may appear, as someone may have changed one: integers before text."""
    return sorted(keys, key=lambda key: (isinstance(key, str), key))


def checked_key(key: object) -> Key:
    """Return a key as a Python integer or string; refuse any other value."""
    plain = plain_key(key)
    if isinstance(plain, bool) or not isinstance(plain, int | str):
        raise TypeError(f"a key must be an integer or text, not {key!r}, which is {type(key).__name__}")
    return plain


def key_that_fits(vertex: Key) -> Key:
    """Return a key; refuse a value that cannot be one, before the driver sees it."""
    if isinstance(vertex, str):
        fits = is_utf8(vertex)
    else:
        fits = isinstance(vertex, int) and not isinstance(vertex, bool) and vertex in INT64
    if not fits:
        shown = repr(vertex) if len(repr(vertex)) < 60 else repr(vertex)[:60] + "…"
        raise ParameterError(f"{shown} is not a key: keys are 64-bit integers or text.", name="vertex", value=vertex)
    return vertex


def checked_keys(keys: object) -> list[Key]:
    """Return one key or several as a list."""
    if isinstance(keys, str | np.generic) or not isinstance(keys, Iterable):
        return [checked_key(keys)]
    return [checked_key(key) for key in keys]


def keys_or_all(keys: object) -> list[Key] | None:
    """Do what `checked_keys` does; None, which stands for every vertex, stays None."""
    return None if keys is None else checked_keys(keys)


def check_text(name: str, value: object, wanted: str) -> None:
    """Refuse an argument that is not text."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be {wanted}, not {value!r}, which is {type(value).__name__}")


def checked_count(name: str, value: Any) -> int:
    """Return a whole number as a Python integer, also from a NumPy scalar; refuse any other value."""
    plain = plain_key(value)
    if isinstance(plain, bool) or not isinstance(plain, int):
        raise TypeError(f"{name} must be a whole number, not {value!r}, which is {type(value).__name__}")
    return plain


def plain_key(key: Any) -> Any:
    """Return a NumPy scalar as a Python value, and anything else as it is."""
    return key.item() if isinstance(key, np.generic) else key
