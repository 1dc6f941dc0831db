"""The user whom the records name."""

from __future__ import annotations

import getpass


def user() -> str:
    """Return the operating-system user's name, for the record; `unknown` if there isn't one."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
