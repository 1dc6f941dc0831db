"""How long tests repeat themselves: as usual, or at length under `--thorough`."""

from __future__ import annotations

import os
from typing import TypeVar

VARIABLE = "PCNEO_TEST_THOROUGH"
"""Set by the option, before any test is read; processes that tests start inherit it."""

T = TypeVar("T")


def usual_or_thorough(usual: T, thorough: T) -> T:
    """The first as usual, the second under `--thorough`."""
    return thorough if os.environ.get(VARIABLE) else usual
