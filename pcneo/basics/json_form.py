"""Results in the form of JSON: names in camelCase, as Neo4j writes names, and values that JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from pcneo.basics.searches import Search


def json_form(value: Any) -> Any:
    """Return a result as lists, dictionaries, text and numbers."""
    if is_dataclass(value) and not isinstance(value, type):
        value = {
            name: item for field in fields(value) for name, item in _entries(field.name, getattr(value, field.name))
        }
    if isinstance(value, Mapping):
        return {key: json_form(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_form(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, float) and math.isinf(value):
        return "infinite"  # JSON has no infinity
    return float(value) if isinstance(value, Fraction) else value


def _entries(name: str, value: Any) -> list[tuple[str, Any]]:
    """Return the entries of a field; a `Search` becomes three, named as on the command line."""
    if isinstance(value, Search):
        return [("p", str(value.p)), ("search", value.name), ("effort", value.effort)]
    return [(camel(name), value)]


def camel(name: str) -> str:
    """Return a snake_case name in camelCase, as Neo4j writes names."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
