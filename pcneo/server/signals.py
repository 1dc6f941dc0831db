"""Signals during a start: they unwind the stack, so that a start is undone, but never in the middle of a fork.

Python sets handlers in its main thread only; in other threads both functions do nothing.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["signals_interrupt", "signals_wait"]


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """Make SIGTERM and SIGHUP raise SystemExit inside the block, as Ctrl-C raises KeyboardInterrupt."""

    def leave(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    with _handled_by(leave, "SIGTERM", "SIGHUP"):
        yield


@contextmanager
def signals_wait() -> Iterator[None]:
    """Delay SIGINT, SIGTERM and SIGHUP to the end of the block, where the first of them takes effect."""
    arrived: list[int] = []
    with _handled_by(lambda number, _frame: arrived.append(number), "SIGINT", "SIGTERM", "SIGHUP"):
        yield
    if arrived:
        signal.raise_signal(arrived[0])


@contextmanager
def _handled_by(handler: Callable[[int, object], None], *names: str) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [signal.Signals[name] for name in names]
    # A signal that is ignored, for example under nohup, stays ignored.
    numbers = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    previous = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler_before in previous.items():
            signal.signal(number, handler_before)
