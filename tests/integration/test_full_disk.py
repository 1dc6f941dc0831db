"""A full disk under the database: writers say so, nothing half done is seen, and work goes on once there is room.

The disk is a small file system in memory, which only root may mount.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import neo4j
import neo4j_servers
import pytest
from graphs import Database, cycle
from services import ServiceProcess, answer, ask, look, wait_until

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.errors import DatabaseError
from pcneo.server import servers

pytestmark = pytest.mark.thorough

NAMES: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
RING = 600


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A disk of 64 MiB."""
    monkeypatch.setenv("PCNEO_STATE_DIR", str(tmp_path / "state"))
    folder = tmp_path / "disk"
    folder.mkdir()
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if mount is None or umount is None:
        pytest.skip("no small disk to fill: this system has no mount")
    command = [mount, "-t", "tmpfs", "-o", "size=64m", "none", str(folder)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no small disk to fill: {mounted.stderr.strip()}")
    yield folder
    servers.stop(folder / "server")
    subprocess.run([umount, "--lazy", str(folder)], check=True)


def fill(file: Path) -> None:
    """Write until nothing more goes in."""
    with file.open("wb", buffering=0) as filling:
        try:
            while filling.write(bytes(4096)):
                pass
        except OSError:
            return


def test_a_full_disk_is_said_and_survived(disk: Path):
    data = disk / "server"
    started = servers.start(data)
    reached = neo4j_servers.Server("", started.uri, started.username, started.password, "neo4j")
    served = ServiceProcess(reached)
    try:
        with neo4j.GraphDatabase.driver(started.uri, auth=(started.username, started.password)) as driver:
            db = Database(driver, "neo4j")
            db.put(cycle(RING))
            annotate.write(db.store, graph="ring", p="1/2", **NAMES)
            before = db.members("ring@1/2")
            served.wait_for("serving")
            request = ask(db, command="annotate", graph="ring", p="2/3", search="degree")
            wait_until(lambda: look(db, request).get("status") == "running", "a start")
            fill(disk / "filler")
            with pytest.raises(DatabaseError):  # busy with the request, or without room
                annotate.write(db.store, graph="ring", p="2/3", **NAMES)
            served.wait_for("; trying again in ")
        (disk / "filler").unlink()
        servers.stop(data)  # Neo4j itself goes no further until it is started again
        started = servers.start(data, bolt_port=urlsplit(started.uri).port)
        with neo4j.GraphDatabase.driver(started.uri, auth=(started.username, started.password)) as driver:
            db = Database(driver, "neo4j")
            assert db.members("ring@1/2") == before
            answered = answer(db, request)
            assert answered["status"] == "complete", answered
            assert set(map(len, db.members("ring@2/3:degree").values())) == {RING}
            assert served.process.poll() is None
    finally:
        print(served.text())
        served.end()
