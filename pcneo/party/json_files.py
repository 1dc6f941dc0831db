"""Small JSON files whose writer need not be trusted: each is an object with exactly the expected fields."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Never

from pcneo.basics.bounded_file import read_whole
from pcneo.basics.keys import INT64
from pcneo.basics.model import Key
from pcneo.basics.visible import is_utf8
from pcneo.basics.whole_file import whole_file
from pcneo.errors import FileFormatError, ParameterError
from pcneo.privacy.exact import positive

MOST_BYTES = 2**24
"""Lists of a million keys are smaller; once read, a file takes up to twenty times the memory of its text."""
_MOST_LETTERS = 1_000  # of a number: with many more digits, arithmetic takes minutes


def read_object(
    path: Path, fields: Iterable[str], optional: Iterable[str] = (), most: int = MOST_BYTES
) -> dict[str, Any]:
    """Read an object with these fields and no others."""
    value = read_json(path, most)
    if not isinstance(value, dict) or not set(fields) <= set(value) <= {*fields, *optional}:
        raise bad(path, f"it must be an object with {', '.join(fields)} and nothing else")
    return value


def read_json(path: Path, most: int = MOST_BYTES) -> object:
    """Read any JSON of at most `most` bytes; refuse NaN, and objects that name a field twice."""
    try:
        text = read_whole(path, most).decode("utf-8")
        return json.loads(text, object_pairs_hook=_once, parse_float=_exactly, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise bad(path, str(error)) from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a field is named twice")
    return dict(pairs)


def _exactly(text: str) -> Decimal:
    """Return a number with a point or an exponent with all its digits, of which a float has about 17."""
    if len(text) > _MOST_LETTERS:
        _refuse(f"{text[:20]}…")
    try:
        return Decimal(text)
    except ArithmeticError:  # its exponent is beyond what even a Decimal holds
        _refuse(text)


def _refuse(name: str) -> Never:
    raise ValueError(f"{name} is not accepted as a number")


def write_json(
    path: Path, record: Mapping[str, Any], *, replace: bool = False, mode: int = 0o666, indent: int | None = None
) -> None:
    """Write an object to a file, whole or not at all, by default to a new file."""
    with whole_file(path, replace=replace, mode=mode) as file:
        file.write((json.dumps(record, ensure_ascii=False, indent=indent) + "\n").encode())


def text_of(path: Path, fields: Mapping[str, Any], name: str) -> str:
    """Return a field that is text of 1 to 100 characters."""
    value = fields[name]
    if not isinstance(value, str) or not 1 <= len(value) <= 100:
        raise bad(path, f"{name} must be text of 1 to 100 characters")
    return value


def number_of(path: Path, fields: Mapping[str, Any], name: str) -> Fraction:
    """Return a field that is a positive number, exactly as it is written."""
    try:
        return positive(fields[name], name)
    except ParameterError as error:
        raise bad(path, str(error).rstrip(".")) from error


def keys_of(path: Path, value: object) -> list[Key]:
    """Return a list of keys as they stand: whole numbers of 64 bits, or text."""
    if not isinstance(value, list):
        raise bad(path, "keys must be a list")
    for key in value:
        if not ((type(key) is int and key in INT64) or (isinstance(key, str) and is_utf8(key))):
            raise bad(path, "a key must be a whole number of 64 bits or text")
    return value


def bad(path: Path, why: str) -> FileFormatError:
    """Return the error for a file that is not what it should be."""
    return FileFormatError(f"{path} cannot be read: {why}.", path=path)
