"""Processes on a data folder: how they are started, and which one is the server there.

The server is recognised by what the system reports about a process, never by its command line.

A process id by itself proves nothing, because the system uses it again; and anyone's command line may hold the same
options. A process started at the recorded moment whose working folder is the data folder is the one that was recorded.
Without a record, the server is the process that holds the lock of the store there.
"""

from __future__ import annotations

import logging
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

POLL_SECONDS = 0.1

log = logging.getLogger(__name__)

_PROC = Path("/proc")
_FLOCK = ("hhqqi", "type", "whence", "start", "len", "pid")  # struct flock, with its padding, on 64 bits
_FLOCK_OF_MACOS = ("qqihh", "start", "len", "pid", "type", "whence")
_START = 19  # place of the start time among the fields after the name, in clock ticks since the machine started


def start_detached(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], output: BinaryIO
) -> subprocess.Popen[bytes]:
    """Start a program in its own session, so that it outlives the terminal, and return it.

    It does not see the credentials of the user's own database, and only its user can read what it writes.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
    return subprocess.Popen(
        command,
        cwd=folder,
        env={**inherited, **environment},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        umask=0o077,
    )


def started_at(pid: int) -> str | None:
    """Return the moment at which a process started, as the system writes it; None if it does not run."""
    if not _has_proc():
        return _output_of("ps", "-o", "lstart=", "-p", str(pid)).strip() or None
    try:
        fields = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    boot = _read(_PROC / "sys/kernel/random/boot_id").strip()
    return None if fields[0] in "ZX" else f"{fields[_START]} of {boot}"


def end_process(
    pid: int,
    is_alive: Callable[[], bool],
    patience: float,
    *,
    quiet: float,
    explain: Callable[[float], object],
    killed: Callable[[], object],
) -> bool:
    """Ask a process to end, and kill it if it does not in time or the wait is interrupted.

    `explain` is called once, with the seconds that are left, if the wait lasts longer than `quiet` seconds; `killed`
    is called after the process was killed, also where the interruption is raised then.

    Returns:
        Whether the process ended by itself.
    """
    began = time.monotonic()
    deadline, is_explained = began + patience, False
    try:
        _signal(pid, is_alive, signal.SIGTERM)
        while is_alive() and (now := time.monotonic()) < deadline:
            if not is_explained and now > began + quiet:
                is_explained = True
                explain(deadline - now)
            time.sleep(POLL_SECONDS)
    finally:
        if lives := is_alive():
            _signal(pid, is_alive, signal.SIGKILL)
            while is_alive():
                time.sleep(POLL_SECONDS)
            killed()
    return not lives


def _signal(pid: int, is_alive: Callable[[], bool], number: signal.Signals) -> None:
    """Send a signal to a process that has not ended; it may end between the question and the signal."""
    if is_alive():
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            log.debug("process %d ended by itself", pid)


def is_on(pid: int, folder: Path) -> bool:
    """Return whether a process runs in a folder."""
    if not _has_proc():
        printed = _output_of("lsof", "-a", "-p", str(pid), "-d", "cwd", "-Fn")
        return any(_is_same(Path(line[1:]), folder) for line in printed.splitlines() if line.startswith("n"))
    return _is_same(_PROC / str(pid) / "cwd", folder)


def holder_of(path: Path) -> int | None:
    """Return the id of the process that has locked a file in the way that Java does; None if no process has."""
    import fcntl  # not on Windows, where this module must still be importable

    layout = _FLOCK_OF_MACOS if sys.platform == "darwin" else _FLOCK
    request = {"type": fcntl.F_WRLCK, "whence": os.SEEK_SET, "start": 0, "len": 0, "pid": 0}
    try:
        with path.open("r+b") as file:
            packed = struct.pack(layout[0], *(request[name] for name in layout[1:]))
            answer = fcntl.fcntl(file, fcntl.F_GETLK, packed)
    except FileNotFoundError:
        return None
    holder = dict(zip(layout[1:], struct.unpack(layout[0], answer), strict=True))
    return None if holder["type"] == fcntl.F_UNLCK or holder["pid"] <= 0 else holder["pid"]


def _is_same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:
        return False


def _has_proc() -> bool:
    return (_PROC / "self" / "stat").exists()


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def _output_of(*command: str) -> str:
    """Return the output of a program of the system; nothing if it has no such program."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""
