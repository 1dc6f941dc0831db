"""A flag by which another thread ends a search that is in a kernel, where no callback is called for a long time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from numpy.typing import NDArray

StopFlag = NDArray[np.uint8]
"""Shape (1,); what looks at it ends soon once it is not 0."""

_flag: ContextVar[StopFlag | None] = ContextVar("flag", default=None)


def new_flag() -> StopFlag:
    """Return a flag that stops nothing yet."""
    return np.zeros(1, np.uint8)


def stop_flag() -> StopFlag:
    """Return the flag of this place; a new one where nobody would stop it."""
    there = _flag.get()
    return new_flag() if there is None else there


@contextmanager
def stoppable(flag: StopFlag) -> Iterator[None]:
    """Have searches inside the block end soon, with CancelledError, once the flag is set."""
    before = _flag.set(flag)
    try:
        yield
    finally:
        _flag.reset(before)
