"""The records of running servers: a small file each in the user's state folder, and a check that its process is alive.

A process number alone proves nothing, because the system reuses it. A server's command line names its data folder, so a
record counts only while the process with that number has such a command line.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

from pcneo.server.folders import make_private, state_folder, write_private

__all__ = ["Record", "folder_arguments", "read_record", "running"]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Record:
    """A server that was started.

    Attributes:
        data: its data folder, an absolute path.
        pid: the number of its process.
        port: its Bolt port on the loopback address.
        version: of Neo4j.
        ready: False until it has answered once.
        http_port: the port of Neo4j Browser on the loopback address; None without Browser.
    """

    data: str
    pid: int
    port: int
    version: str
    ready: bool
    http_port: int | None = None

    @property
    def is_alive(self) -> bool:
        """Whether the process exists and is Neo4j on this data folder."""
        return " ".join(folder_arguments(Path(self.data))) in _command_line(self.pid)

    def write(self) -> None:
        """Write this record, over any earlier one for the same data folder."""
        make_private(state_folder())
        write_private(_path(Path(self.data)), json.dumps(asdict(self)))

    def remove(self) -> None:
        """Delete this record."""
        _path(Path(self.data)).unlink(missing_ok=True)


def folder_arguments(data: Path) -> list[str]:
    """Return the arguments that give Neo4j its data folder, and by which a record recognises its process."""
    return [f"--home-dir={data}", f"--config-dir={data / 'conf'}"]


def read_record(data: Path) -> Record | None:
    """Return the record of the server that runs on `data`; delete it if its process is gone."""
    return _read(_path(data))


def running() -> list[Record]:
    """Return the records of all running servers by data folder; delete those whose process is gone."""
    records = [_read(path) for path in state_folder().glob("*.json")]
    return sorted((record for record in records if record), key=lambda record: record.data)


def _path(data: Path) -> Path:
    return state_folder() / f"{hashlib.sha256(os.fsencode(data)).hexdigest()[:16]}.json"


def _read(path: Path) -> Record | None:
    try:
        record = Record(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError):
        log.warning("Removing %s, which is no record of a server", path)
        path.unlink(missing_ok=True)
        return None
    if not record.is_alive:
        log.warning("The server on %s (process %d) is gone; removing its record", record.data, record.pid)
        path.unlink(missing_ok=True)
        return None
    return record


def _command_line(pid: int) -> str:
    """Return the arguments of a process, separated by spaces; empty if it does not exist or is a zombie."""
    if Path("/proc/self/cmdline").exists():
        try:
            return os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes()).replace("\0", " ")
        except OSError:
            return ""
    ps = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
    return subprocess.run(ps, capture_output=True, text=True, check=False).stdout
