"""Suggests the name that a user may have meant by an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], option: str = "") -> str:
    """Return a question to append to a refusal, with a space before it; empty if no known name is similar."""
    known = [other for other in known if abs(len(other) - len(name)) <= len(name) / 2]  # else a part matches any whole
    near = difflib.get_close_matches(name, known, 1)
    return f" Did you mean {f'{option} ' if option else ''}{near[0]}?" if near else ""
