"""Command lines in separate processes, forked from one that has loaded everything: quick, and really killed.

A fresh child is a new interpreter instead, to test what an interpreter does at start with its streams and its memory.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

__all__ = ["PATIENCE", "POINTS", "Accident", "Child", "Ended", "PeakOfCase"]

PATIENCE = 240.0
"""Seconds after which a child counts as hung: longer than the driver waits for a connection that says nothing."""

LOADED = ["pcneo.cli.main", "pcneo.annotate", "pcneo.release", "pcneo.party.collecting", "pcneo.service.serving"]
CLOSED = "closed"

POINTS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "statement": (("neo4j:Transaction", "run"), ("neo4j:Session", "run")),
    "commit": (("neo4j:Transaction", "commit"),),
    "file": (("os:", "replace"), ("os:", "link"), ("os:", "fsync")),
    "draw": (("pcneo.privacy.noise:ReleaseNoise", "_sample"), ("pcneo.privacy.noise:ReleaseNoise", "_bytes")),
}
"""Where a child can be made to die: just before or just after the n-th call of one of these."""


@dataclass(frozen=True)
class Accident:
    """What is wrong around one command.

    Attributes:
        dies: a name of `POINTS`, which call of it, and whether before or after; None for not by itself.
        streams: descriptors 0 to 2, and the file that each is, or `CLOSED`; the rest are files of the child's.
        memory: MiB of address space.
        largest_file: bytes that a file can have.
        clock: seconds by which the clock is wrong.
        fresh: whether it is a new interpreter.
    """

    dies: tuple[str, int, bool] | None = None
    streams: Mapping[int, str] = field(default_factory=dict)
    memory: int | None = None
    largest_file: int | None = None
    clock: float = 0.0
    fresh: bool = False


@dataclass(frozen=True)
class Ended:
    """A command that has ended: how, what it said, and the most memory it had."""

    arguments: tuple[str, ...]
    code: int | None
    out: str
    err: str
    seconds: float
    mib: int

    def __str__(self) -> str:
        """For whoever reads a failure."""
        said = (
            f"pcneo {' '.join(self.arguments)[:400]} ended with {self.code} after {self.seconds:.1f} s, {self.mib} MiB"
        )
        return f"{said}\n{self.err[-2_000:]}"


class Child:
    """One command line that runs."""

    def __init__(
        self,
        *arguments: object,
        folder: Path,
        environment: Mapping[str, str],
        accident: Accident = Accident(),
    ) -> None:
        """Start it in a folder."""
        self.arguments = tuple(map(str, arguments))
        self._says = [folder.with_name(f"{folder.name}-{time.monotonic_ns()}-{name}") for name in ("out", "err")]
        for path in self._says:
            path.touch()
        streams = {0: os.devnull, 1: str(self._says[0]), 2: str(self._says[1]), **accident.streams}
        self._process = _context().Process(
            target=_live, args=(self.arguments, str(folder), dict(environment), streams, accident), daemon=True
        )
        self.began = time.monotonic()
        self._process.start()
        self._mib = 0

    @property
    def is_running(self) -> bool:
        return self._process.is_alive()

    def send(self, number: int) -> None:
        """Send it a signal, if it has not ended."""
        if self._process.is_alive() and self._process.pid is not None:
            os.kill(self._process.pid, number)

    def said(self) -> str:
        """What it has said so far on standard error."""
        return self._says[1].read_text(encoding="utf-8", errors="replace")

    def wait(self, patience: float = PATIENCE) -> Ended:
        """Wait for its end; kill it after `patience` seconds, which leaves the exit code None."""
        hung = False
        while self._process.is_alive():
            self._mib = max(self._mib, _peak(self._process.pid))
            if time.monotonic() - self.began > patience:
                hung = True
                self._process.kill()
            self._process.join(0.02)
        seconds = time.monotonic() - self.began
        code = None if hung else self._process.exitcode
        self._process.close()
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in self._says]
        for path in self._says:
            path.unlink()
        return Ended(self.arguments, code, texts[0], texts[1], seconds, self._mib)


def _context() -> Any:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*LOADED, __name__])
    return context


class PeakOfCase:
    """The most memory that this process has had since the object was made, beside what it had then."""

    def __init__(self) -> None:
        """Begin, if this system lets a process forget its former peak."""
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        self._before = _mib("self", "VmRSS")

    def added(self) -> int:
        """MiB; 0 where the system does not say."""
        return max(0, _mib("self", "VmHWM") - self._before)


def _peak(pid: int | None) -> int:
    """The most memory that a process has held, in MiB, as Linux says it; else 0."""
    return _mib(pid, "VmHWM")


def _mib(pid: int | str | None, value: str) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith(value)), 0)


# --- In the child


def _live(
    arguments: tuple[str, ...],
    folder: str,
    environment: Mapping[str, str],
    streams: Mapping[int, str],
    accident: Accident,
) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # where files end early, half a module would stay for all others
    sys.dont_write_bytecode = True
    os.chdir(folder)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    _limit(accident)
    for descriptor, place in streams.items():
        _put(descriptor, place)
    if accident.fresh:
        os.execv(sys.executable, [sys.executable, "-m", "pcneo", *arguments])  # noqa: S606
    for name, descriptor, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    _shift_clock(accident.clock)
    if accident.dies is not None:
        _die_at(*accident.dies)
    from pcneo.cli.main import main

    sys.argv = ["pcneo", *arguments]
    main()


def _limit(accident: Accident) -> None:
    if accident.memory is not None:
        limit = accident.memory * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    if accident.largest_file is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as Python does: the write fails instead
        resource.setrlimit(resource.RLIMIT_FSIZE, (accident.largest_file, accident.largest_file))


def _put(descriptor: int, place: str) -> None:
    if place == CLOSED:
        os.close(descriptor)
        return
    opened = os.open(place, os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_APPEND)
    if opened != descriptor:
        os.dup2(opened, descriptor)
        os.close(opened)


def _shift_clock(seconds: float) -> None:
    if not seconds:
        return
    now = time.time
    time.time = lambda: now() + seconds

    class Shifted(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + timedelta(seconds=seconds)

    for name in ("pcneo.release.outputs", "pcneo.party.own_ledger"):
        setattr(importlib.import_module(name), "datetime", Shifted)  # noqa: B010


def _die_at(point: str, number: int, after: bool) -> None:
    """Have this process end, as by `kill -9`, at the n-th call of any of a point's functions."""
    calls = 0

    def deadly(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*positional: Any, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            this = calls == number
            if this and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            value = function(*positional, **named)
            if this:
                os.kill(os.getpid(), signal.SIGKILL)
            return value

        return call

    for home, name in POINTS[point]:
        module, _, owner = home.partition(":")
        place = importlib.import_module(module)
        place = getattr(place, owner) if owner else place
        setattr(place, name, deadly(getattr(place, name)))
