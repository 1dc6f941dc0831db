"""A service beside a local server, `pcneo serve`: started with it on request, and ended before it."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path

from pcneo.basics.signals import signals_wait
from pcneo.errors import LocalServerError
from pcneo.server.data_folder import password_file
from pcneo.server.folders import read_private, write_private
from pcneo.server.processes import end_process, start_detached, started_at

END_SECONDS = 60
"""How long a service may take to end: 20 s of grace for the request under way, and time to remove what that wrote."""
QUIET_SECONDS = 2
"""About how long a service takes that has nothing to finish; after that the wait is logged."""

log = logging.getLogger(__name__)

# The services that this Python process started: a child that has ended stays a process until its parent polls it.
_children: dict[int, subprocess.Popen[bytes]] = {}


def service_log(data: Path) -> Path:
    """Return the file that takes all output of the service."""
    return data / "logs" / "service.log"


def service_process(data: Path) -> int | None:
    """Return the process id of the service on a data folder; None if it has none."""
    recorded = _recorded(data)
    return recorded[0] if recorded is not None and _is_alive(*recorded) else None


def _recorded(data: Path) -> tuple[int, str] | None:
    """Return process id and start of the recorded service; None for a record that was edited: it may be anyone's."""
    path = _record(data)
    if not path.exists():
        return None
    try:
        pid, started = json.loads(read_private(path))
    except (ValueError, TypeError):
        return None
    return (pid, started) if type(pid) is int and 0 < pid < 2**31 and isinstance(started, str) else None


def _is_alive(pid: int, started: str) -> bool:
    if (child := _children.get(pid)) is not None:
        child.poll()
    return started_at(pid) == started


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
            if (started := started_at(process.pid)) is None:  # by which alone it is known again
                raise LocalServerError(
                    f"No service can be started on {data}: it ended at once. Its log is {service_log(data)}.", path=data
                )
            write_private(_record(data), json.dumps([process.pid, started]))
        except LocalServerError:
            process.kill()
            _children.pop(process.pid).wait()
            raise
    return process.pid


def end_service(data: Path) -> bool:
    """End the service of a data folder, and return whether there was one; its work is finished or given back."""
    recorded = _recorded(data)
    if recorded is None or not _is_alive(*recorded):
        _record(data).unlink(missing_ok=True)
        return False
    pid, _ = recorded
    end_process(
        pid,
        lambda: _is_alive(*recorded),
        END_SECONDS,
        quiet=QUIET_SECONDS,
        explain=lambda _: log.info(
            "The service is finishing its request or giving it back, and has %d seconds for that.", END_SECONDS
        ),
        killed=lambda: log.info("Killed the service, which had not ended. The next one will take up its request."),
    )
    if (child := _children.pop(pid, None)) is not None:
        child.wait()  # it has ended, perhaps only since it was last polled
    _record(data).unlink(missing_ok=True)
    return True


def _record(data: Path) -> Path:
    return data / "service.json"
