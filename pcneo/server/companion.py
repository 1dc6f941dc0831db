"""A service beside a local server, `pcneo serve`: started with it on request, and ended before it."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from pcneo.basics.signals import signals_wait
from pcneo.errors import LocalServerError
from pcneo.server.data_folder import password_file
from pcneo.server.folders import read_private, write_private
from pcneo.server.processes import start_detached, started_at

END_SECONDS = 60
"""How long a service may take to end: 20 s of grace for the request under way, and time to remove what that wrote."""
QUIET_SECONDS = 2
"""About how long a service takes that has nothing to finish; after that the wait is logged."""
POLL_SECONDS = 0.1

log = logging.getLogger(__name__)

# The services that this Python process started: a child that has ended stays a process until its parent polls it.
_children: dict[int, subprocess.Popen[bytes]] = {}


def service_log(data: Path) -> Path:
    """Return the file that takes all output of the service."""
    return data / "logs" / "service.log"


def service_process(data: Path) -> int | None:
    """Return the process id of the service on a data folder; None if it has none."""
    path = _record(data)
    if not path.exists():
        return None
    try:
        pid, started = json.loads(read_private(path))
    except (ValueError, TypeError):
        return None  # it was edited, and only a recorded process may be ended
    if not isinstance(pid, int) or pid <= 0:
        return None
    if (child := _children.get(pid)) is not None:
        child.poll()
    return pid if started_at(pid) == started else None


def start_service(data: Path, uri: str, username: str) -> int:
    """Start a service for a running local server, unless it has one; return the process id of the service.

    It waits for the database as long as it takes, in its own session, so that it outlives the terminal.
    """
    if (running := service_process(data)) is not None:
        return running
    names = {"NEO4J_URI": uri, "NEO4J_USERNAME": username, "NEO4J_PASSWORD_FILE": str(password_file(data))}
    with signals_wait():  # no one could end a service without a record
        try:
            service_log(data).unlink(missing_ok=True)
            service_log(data).touch(mode=0o600, exist_ok=False)
            with service_log(data).open("ab") as output:
                process = start_detached([sys.executable, "-m", "pcneo", "serve"], data, names, output)
        except OSError as error:
            raise LocalServerError(f"No service can be started on {data}: {error}.", path=data) from error
        _children[process.pid] = process
        try:
            write_private(_record(data), json.dumps([process.pid, started_at(process.pid)]))
        except LocalServerError:
            process.kill()
            raise
    return process.pid


def end_service(data: Path) -> bool:
    """End the service of a data folder, and return whether there was one; its work is finished or given back."""
    pid = service_process(data)
    if pid is None:
        _record(data).unlink(missing_ok=True)
        return False
    try:
        os.kill(pid, signal.SIGTERM)
        if not _has_ended(data, QUIET_SECONDS):
            log.info(
                "The service is finishing its request or giving it back, and has %d seconds for that.", END_SECONDS
            )
            _has_ended(data, END_SECONDS - QUIET_SECONDS)
    finally:
        if service_process(data) is not None:
            log.info("Killing the service, which has not ended. The next one will take up its request.")
            os.kill(pid, signal.SIGKILL)
            while service_process(data) is not None:
                time.sleep(POLL_SECONDS)
    if (child := _children.pop(pid, None)) is not None:
        child.wait()  # it has ended, perhaps only since it was last polled
    _record(data).unlink(missing_ok=True)
    return True


def _has_ended(data: Path, seconds: float) -> bool:
    """Wait at most that long, and return whether the service has ended."""
    deadline = time.monotonic() + seconds
    while service_process(data) is not None:
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _record(data: Path) -> Path:
    return data / "service.json"
