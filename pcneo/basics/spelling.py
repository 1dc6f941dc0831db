"""Suggests the name that a user may have meant by an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question to append to a refusal, with a space before it; empty if no known name is similar."""
    near = similar(name, known)
    return f" Did you mean {near}?" if near else ""


def similar(name: str, known: Iterable[str]) -> str:
    """Return the known name that is most like another; empty if none is."""
    known = [other for other in known if abs(len(other) - len(name)) <= len(name) / 2]  # else a part matches any whole
    return next(iter(difflib.get_close_matches(name, known, 1)), "")
