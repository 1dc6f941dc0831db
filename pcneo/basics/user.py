"""Whom the records name."""

from __future__ import annotations

import getpass


def user() -> str:
    """Return the name of the operating system's user, for the record; `unknown` where there is none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
