"""Signals: SIGTERM and SIGHUP unwind the stack as Ctrl-C does, and no signal separates steps that belong together.

Python sets handlers in its main thread only; in other threads these functions do nothing.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_ALL = ("SIGINT", "SIGTERM", "SIGHUP")
_AGAIN_SECONDS = 0.01


class _AnswerlessError(BaseException):
    """A signal arrived while a person was being asked a question."""


class Waiting:
    """The signals that have arrived while they were delayed, by number, the first one first."""

    def __init__(self, on_arrival: Callable[[str], object] | None = None, patient: bool = True) -> None:
        """Begin without any signals."""
        self.arrived: list[int] = []
        self._on_arrival, self._patient = on_arrival, patient

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Let signals end the block, in which a person is asked a question; they are noted and go no further."""

        def leave(number: int, _frame: object) -> None:
            self.arrived.append(number)
            raise _AnswerlessError

        try:
            with _handled_by(leave, *_ALL):
                yield
        except _AnswerlessError:
            pass

    def __call__(self, number: int, _frame: object) -> None:
        """Note a signal, as a handler does."""
        if number == signal.SIGINT and signal.SIGINT in self.arrived and not self._patient:
            raise KeyboardInterrupt
        self.arrived.append(number)
        if self._on_arrival is not None:
            self._on_arrival(signal.Signals(number).name)


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """Make SIGTERM and SIGHUP raise SystemExit inside the block, as Ctrl-C raises KeyboardInterrupt."""

    def leave(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    with _handled_by(leave, "SIGTERM", "SIGHUP"), _sent_again_where_lost():
        yield


@contextmanager
def _sent_again_where_lost() -> Iterator[None]:
    """Resend a signal that came where Python drops its exception: in a finalizer, or a callback from compiled code.

    llvmlite calls back while numba compiles or loads a kernel; without this, the command would go on as if no signal
    had come.
    """
    before = sys.unraisablehook

    def send_again(lost: sys.UnraisableHookArgs) -> None:
        error = lost.exc_value
        if isinstance(error, KeyboardInterrupt):
            number = int(signal.SIGINT)
        elif isinstance(error, SystemExit) and isinstance(error.code, int) and error.code > 128:
            number = error.code - 128
        else:
            before(lost)
            return
        threading.Thread(target=send_outside, args=(number,), daemon=True).start()

    def send_outside(number: int) -> None:
        """Send it once the hook has returned: an exception that a handler raises inside the hook is dropped as well."""
        main = threading.main_thread().ident
        while True:
            time.sleep(_AGAIN_SECONDS)
            frame = sys._current_frames().get(main) if main is not None else None
            while frame is not None and frame.f_code is not send_again.__code__:
                frame = frame.f_back
            if frame is None:
                os.kill(os.getpid(), number)
                return

    sys.unraisablehook = send_again
    try:
        yield
    finally:
        sys.unraisablehook = before


@contextmanager
def signals_wait(on_arrival: Callable[[str], object] | None = None, *, patient: bool = True) -> Iterator[Waiting]:
    """Delay SIGINT, SIGTERM and SIGHUP to the end of the block, where the first of them takes effect.

    Yields:
        The signals that have arrived so far.
    """
    waiting = Waiting(on_arrival, patient)
    with _handled_by(waiting, *_ALL):
        yield waiting
    if waiting.arrived:
        signal.raise_signal(waiting.arrived[0])


@contextmanager
def _handled_by(handler: Callable[[int, object], object], *names: str) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [signal.Signals[name] for name in names if name in signal.Signals.__members__]
    # A signal that is ignored, for example under nohup, stays ignored.
    numbers = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    previous = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler_before in previous.items():
            signal.signal(number, handler_before)
