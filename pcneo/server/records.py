"""The records of running servers: a small file each in the user's state folder, and a check that its process is alive.

A record counts only while the process with its id is the one that was started: `processes` explains the check.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from pcneo.errors import LocalServerError
from pcneo.server.folders import make_private, read_private, state_folder, write_private
from pcneo.server.processes import holder_of, is_on, started_at

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Record:
    """A server that was started.

    Attributes:
        data: its data folder, an absolute path.
        pid: its process id.
        port: its Bolt port on the loopback address.
        version: the version of Neo4j.
        ready: False until it has answered once.
        started: when its process started, as `processes.started_at` returns it.
        http_port: the port of Neo4j Browser on the loopback address; None without Browser.
    """

    data: str
    pid: int
    port: int
    version: str
    ready: bool
    started: str
    http_port: int | None = None

    @property
    def is_alive(self) -> bool:
        """Whether the process that was started still runs, on this data folder."""
        return started_at(self.pid) == self.started and is_on(self.pid, Path(self.data))

    def write(self) -> None:
        """Write this record, over any earlier one for the same data folder."""
        make_private(state_folder(), "PCNEO_STATE_DIR")
        write_private(_path(Path(self.data)), json.dumps(asdict(self)))

    def remove(self) -> None:
        """Delete this record; a folder that someone has put in its place stays."""
        path = _path(Path(self.data))
        if not path.is_dir():
            path.unlink(missing_ok=True)


def folder_arguments(data: Path) -> list[str]:
    """Return the arguments that give Neo4j its data folder."""
    return [f"--home-dir={data}", f"--config-dir={data / 'conf'}"]


def read_record(data: Path) -> Record | None:
    """Return the record of the server that runs on `data`; delete it if its process is gone."""
    return _read(_path(data))


def running() -> list[Record]:
    """Return the records of all running servers by data folder; delete those whose process is gone."""
    records = [_read(path) for path in state_folder().glob("*.json")]
    return sorted((record for record in records if record), key=lambda record: record.data)


def unrecorded(data: Path) -> Record | None:
    """Return the Neo4j that has the store of `data` open without a record, which was lost or edited by hand.

    It must have been started in that folder. Its port and version stay unknown.
    """
    pid = holder_of(store_lock(data))
    if pid is None or not is_on(pid, data):
        return None
    return Record(data=str(data), pid=pid, port=0, version="", ready=False, started=started_at(pid) or "")


def store_lock(data: Path) -> Path:
    """Return the file of the store that Neo4j locks while it runs."""
    return data / "data" / "databases" / "store_lock"


def _path(data: Path) -> Path:
    return state_folder() / f"{hashlib.sha256(os.fsencode(data)).hexdigest()[:16]}.json"


def _read(path: Path) -> Record | None:
    if not path.is_symlink() and not path.exists():
        return None
    try:
        record = _parsed(read_private(path))
    except LocalServerError as error:
        log.warning("%s It is not used as the record of a server", error)
        return None
    except (ValueError, TypeError):
        log.warning("Removing %s, which is not a record of a server", path)
    else:
        if _path(Path(record.data)) != path:
            log.warning("Removing %s, whose name does not follow from its data folder", path)
        elif not record.is_alive:
            log.warning("The server on %s (process %d) is gone; removing its record", record.data, record.pid)
        else:
            return record
    path.unlink(missing_ok=True)
    return None


def _parsed(text: str) -> Record:
    record = Record(**json.loads(text))
    kinds = {"data": str, "pid": int, "port": int, "version": str, "ready": bool, "started": str}
    for name, kind in kinds.items():
        if type(getattr(record, name)) is not kind:
            raise ValueError(f"{name} is not of type {kind.__name__}")
    if type(record.http_port) not in (int, type(None)) or not 0 < record.pid < 2**31:
        raise ValueError("a number is out of range")
    return record
