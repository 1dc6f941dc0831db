"""Writes what has been paid for, again as long as the user agrees; one failed write never loses the others."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NoReturn

from pcneo.errors import PcneoError

log = logging.getLogger("pcneo")

Retry = Callable[[PcneoError], bool]
"""Takes the error of a write that failed, and returns whether to try again with the same numbers."""


def fail(error: Exception) -> NoReturn:
    """Raise an error that was caught earlier, so that other releases could be drawn first."""
    raise error


def tried(name: str, write: Callable[[], object], retry: Retry | None) -> PcneoError | None:
    """Write what has this name, and try again for as long as `retry` agrees; return the error if it failed."""
    while True:
        try:
            write()
        except Exception as error:  # noqa: BLE001 - what else was paid for must not be lost with it
            failed = _worded(name, error)
            if retry is None or not retry(failed):
                return failed
        else:
            return None


def _worded(name: str, error: Exception) -> PcneoError:
    """Return a PcneoError with a sentence for the user; the traceback goes to the log."""
    if isinstance(error, PcneoError):
        return error
    log.debug("a paid release failed", exc_info=error)
    why = "there is not enough memory" if isinstance(error, MemoryError) else f"{type(error).__name__}: {error}"
    failed = PcneoError(f"Writing {name} failed: {why}.")
    failed.__cause__ = error
    return failed
