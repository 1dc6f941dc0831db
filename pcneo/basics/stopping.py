"""A flag with which another thread stops a search inside a kernel, where no callback is called for a long time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from numpy.typing import NDArray

StopFlag = NDArray[np.uint8]
"""Shape (1,); code that watches it stops soon after it becomes non-zero."""

_flag: ContextVar[StopFlag | None] = ContextVar("flag", default=None)


def new_flag() -> StopFlag:
    """Return a flag that stops nothing yet."""
    return np.zeros(1, np.uint8)


def stop_flag() -> StopFlag:
    """Return the flag of the enclosing `stoppable` block; outside any block, a new flag that nothing sets."""
    there = _flag.get()
    return new_flag() if there is None else there


@contextmanager
def stoppable(flag: StopFlag) -> Iterator[None]:
    """Make searches inside the block stop with CancelledError soon after the flag is set."""
    before = _flag.set(flag)
    try:
        yield
    finally:
        _flag.reset(before)
