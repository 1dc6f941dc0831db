"""Logs that the server keeps a statement waiting: otherwise a dead connection and a long query would look alike.

The server decides how long the driver waits: it tells every client after how many seconds without a sign of life a
connection is dead, and gives such signs while it works. The limit is twice `server.bolt.connection_keep_alive`: 120 by
default, 50 for the local server. Nothing else can give up sooner. The driver has limits for connecting and for sending,
but not for reading; `Driver.close` must not be called while another thread waits in it; a thread of ours left waiting
would keep what it holds; and a signal ends waits only in the main thread, where it would end the caller's program with
them.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

SAY_SECONDS = 20.0
"""Seconds without an answer before it is logged for the first time, and between one time and the next."""

log = logging.getLogger("pcneo")


class _Watch:
    """One thread for all statements under way; it ends when there are none for a moment."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waits: dict[object, tuple[float, int]] = {}  # since when, and how often it was logged
        self._runs = False

    def begin(self) -> object:
        wait = object()
        with self._lock:
            self._waits[wait] = (time.monotonic(), 0)
            if not self._runs:
                self._runs = True
                threading.Thread(target=self._watch, daemon=True, name="pcneo-silence").start()
        return wait

    def end(self, wait: object) -> None:
        with self._lock:
            del self._waits[wait]

    def _watch(self) -> None:
        while True:
            time.sleep(SAY_SECONDS / 10)
            with self._lock:
                self._runs = bool(self._waits)
                if not self._runs:
                    return
                overdue = {wait: since for wait, since in self._waits.items() if _is_overdue(*since)}
                self._waits |= {wait: (began, said + 1) for wait, (began, said) in overdue.items()}
            for began, _ in overdue.values():
                silent = time.monotonic() - began
                log.warning("The server has not answered for %.0f s; waiting until it, or the driver, gives up", silent)


def _is_overdue(began: float, said: int) -> bool:
    return time.monotonic() - began >= (said + 1) * SAY_SECONDS


_WATCH = _Watch()


@contextmanager
def logging_silence() -> Iterator[None]:
    """Wait for the server inside the block, and log every twenty seconds that no answer has come."""
    wait = _WATCH.begin()
    try:
        yield
    finally:
        _WATCH.end(wait)
