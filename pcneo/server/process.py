"""One Neo4j process: its start, its first answer, its end, and why it failed.

It rests on the facts in LOCAL-SERVER.md#what-a-local-neo4j-needs.
"""

from __future__ import annotations

import logging
import re
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from pcneo.errors import LocalServerError
from pcneo.server.browser import browser_settings
from pcneo.server.configuration import HEAP, HOST, PAGE_CACHE, USERNAME, java_arguments, settings_text
from pcneo.server.data_folder import password_file
from pcneo.server.folders import write_private
from pcneo.server.processes import POLL_SECONDS, end_process, start_detached, started_at
from pcneo.server.records import Record, folder_arguments
from pcneo.store.first_login import change_password, say_hello

log = logging.getLogger(__name__)

INITIAL_PASSWORD = "neo4j"  # noqa: S105 - Neo4j's own default, which must be changed at the first login
START_SECONDS = 300
STOP_SECONDS = 30
QUIET_SECONDS = 3
"""How long to wait for the end of a server before the wait is explained."""
EXIT_TOO_LITTLE_MEMORY = 3
NO_MEMORY = re.compile(r"Could not reserve enough space|insufficient memory|OutOfMemoryError")
TELLING = re.compile(r"ERROR|Exception|Error:|Caused by|Invalid")

# The servers that this Python process started: only a parent learns the exit code of its child.
_children: dict[int, subprocess.Popen[bytes]] = {}


def console_log(data: Path) -> Path:
    """Return the file that takes all output of the server, from the start."""
    return data / "logs" / "console.log"


def launch(
    java_home: Path, jars: Sequence[Path], data: Path, port: int, version: str, http_port: int | None = None
) -> Record:
    """Start Neo4j on `data` in its own session, so that it outlives the terminal, and return its record."""
    command = [
        str(java_home / "bin" / "java"),
        *java_arguments(jars, version),
        *folder_arguments(data),
        "--console-mode",
    ]
    environment = {"JAVA_HOME": str(java_home), "NEO4J_HOME": str(data)}
    further = None if http_port is None else browser_settings(http_port, port)
    try:
        for folder in ("conf", "logs"):
            (data / folder).mkdir(mode=0o700, exist_ok=True)
        write_private(data / "conf" / "neo4j.conf", settings_text(port, version, further))
        console_log(data).unlink(missing_ok=True)
        with console_log(data).open("xb") as output:
            process = start_detached(command, data, environment, output)
    except OSError as error:
        raise LocalServerError(f"Neo4j cannot be started on {data}: {error}.", path=data) from error
    _children[process.pid] = process
    return Record(
        data=str(data),
        pid=process.pid,
        port=port,
        version=version,
        ready=False,
        started=started_at(process.pid) or "",
        http_port=http_port,
    )


def wait_until_ready(record: Record, password: str) -> None:
    """Wait until the server answers a query; replace its initial password with `password` if it still has that."""
    deadline = time.monotonic() + START_SECONDS
    while not (_listens(record.port) and _answers(record, password)):
        if not _is_alive(record):
            raise _death(record)
        if time.monotonic() > deadline:
            raise LocalServerError(
                f"The server on {record.data} did not answer within {START_SECONDS} seconds. "
                + _last_lines(Path(record.data)),
                path=record.data,
            )
        time.sleep(POLL_SECONDS)


def end(record: Record, patience: float | None = None) -> None:
    """Ask the server to stop, and kill it if it does not stop in time or the wait is interrupted."""
    explained: list[float] = []

    def explain(left: float) -> None:
        explained.append(left)
        log.info("Neo4j is closing its files; if it has not stopped in %.0f s, pcneo kills it.", left)

    def killed() -> None:
        if patience == 0:
            log.info("Stopped the server on %s, which was still starting.", record.data)
        else:
            log.info("Neo4j on %s did not stop; pcneo killed it.", record.data)

    seconds = STOP_SECONDS if patience is None else patience
    try:
        ended = end_process(
            record.pid, lambda: _is_alive(record), seconds, quiet=QUIET_SECONDS, explain=explain, killed=killed
        )
        if ended and explained:
            log.info("Neo4j has closed its files and stopped.")
    finally:
        _children.pop(record.pid, None)


def _is_alive(record: Record) -> bool:
    # An ended child stays a zombie until its parent collects the exit code.
    child = _children.get(record.pid)
    return child.poll() is None if child else record.is_alive


def _listens(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    return True


def _answers(record: Record, password: str) -> bool:
    uri = f"bolt://{HOST}:{record.port}"
    answer = say_hello(uri, USERNAME, password)
    # Over Bolt, as a parameter: every user of the machine could read it on the command line of neo4j-admin.
    if answer == "refused" and change_password(uri, USERNAME, INITIAL_PASSWORD, password) == "refused":
        raise LocalServerError(
            f"The server on {record.data} refuses the password in {password_file(Path(record.data))}: it was changed "
            "elsewhere. Write the right one into that file, or name another data folder.",
            path=record.data,
        )
    return answer == "ready"


def _death(record: Record) -> LocalServerError:
    child = _children.pop(record.pid, None)
    code = child.returncode if child else None
    data = Path(record.data)
    lines = _log_lines(data)
    if code == EXIT_TOO_LITTLE_MEMORY or NO_MEMORY.search("\n".join(lines)):
        reason = f"Too little memory for Neo4j, which needs {HEAP}B of heap and {PAGE_CACHE}B of page cache."
    elif code == -signal.SIGKILL:
        reason = "The server was killed before it answered, as the system does when memory runs out."
    else:
        reason = f"The server on {data} ended before it answered{'' if code is None else f' (exit code {code})'}."
    return LocalServerError(f"{reason} {_last_lines(data)}", path=data, exit_code=code)


def _log_lines(data: Path) -> list[str]:
    path = console_log(data)
    return path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []


def _last_lines(data: Path) -> str:
    """Return the most telling lines of the log: errors if there are any, else the last lines."""
    lines = _log_lines(data)
    telling = [line for line in lines if TELLING.search(line)] or lines
    return "\n  ".join([f"Its log ({console_log(data)}) says:", *(line.strip()[:300] for line in telling[-5:])])
