"""How long tests repeat themselves: as usual, briefly under `--quick`, at length under `--thorough`."""

from __future__ import annotations

import os
from typing import TypeVar

VARIABLE = "PCNEO_TEST_LENGTH"
"""Set by the options, before any test is read; processes that tests start inherit it."""

TIMES = {"quick": 0.1, "usual": 1, "thorough": 10}
"""How many examples of a property are tried, as a multiple of the usual number."""

T = TypeVar("T")


def length() -> str:
    """The length of this run."""
    return os.environ.get(VARIABLE, "usual")


def usual_or_thorough(usual: T, thorough: T) -> T:
    """The first as usual, the second under `--thorough`."""
    return thorough if length() == "thorough" else usual


def examples(usual: int) -> int:
    """So many examples of a property, of which `usual` are tried as usual."""
    return max(1, round(usual * TIMES[length()]))
