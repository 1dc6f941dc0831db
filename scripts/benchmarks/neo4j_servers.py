"""Local Neo4j servers for the benchmark, and separate processes for measured tasks."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pcneo.basics.selection import Selection

NAMES: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Server:
    """A running server, and a file with its password."""

    uri: str
    password_file: Path
    pid: int
    version: str

    def driver(self) -> Any:
        """Return a driver without our settings, except that it hides warnings, which would fill the screen."""
        import neo4j

        password = self.password_file.read_text().strip()
        return neo4j.GraphDatabase.driver(self.uri, auth=("neo4j", password), notifications_min_severity="OFF")

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables by which `pcneo` reaches it."""
        named = {"NEO4J_URI": self.uri, "NEO4J_USERNAME": "neo4j", "NEO4J_PASSWORD_FILE": str(self.password_file)}
        return {**{name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}, **named}


@contextmanager
def local_server(folder: Path) -> Iterator[Server]:
    """Run the local Neo4j of `pcneo server start`, with the same settings, on `data` in a folder."""
    from pcneo.server import servers
    from pcneo.server.data_folder import password_file

    local = servers.start(folder / "data")
    try:
        yield Server(local.uri, password_file(local.data), local.pid, local.version)
    finally:
        servers.stop(local.data)


@contextmanager
def own_server(
    class_path: Sequence[Path],
    version: str,
    *,
    plugins: Sequence[Path] = (),
    settings: Mapping[str, str],
) -> Iterator[Server]:
    """Run a Neo4j with other jars or more memory, in a temporary folder.

    Args:
        class_path: its jars.
        version: of Neo4j.
        plugins: jars with procedures.
        settings: changes to the local server's settings.
    """
    from pcneo.server import process
    from pcneo.server.configuration import HOST, java_arguments, settings_text
    from pcneo.server.processes import started_at
    from pcneo.server.records import Record, folder_arguments
    from pcneo.server.servers import find_java

    java_home = find_java()
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        for folder in ("conf", "logs", "plugins"):
            (home / folder).mkdir()
        for jar in plugins:
            (home / "plugins" / jar.name).symlink_to(jar)
        with socket.socket() as probe:
            probe.bind((HOST, 0))
            port = probe.getsockname()[1]
        (home / "conf" / "neo4j.conf").write_text(settings_text(port, version, settings))
        heap = settings.get("server.memory.heap.max_size")
        java = [
            f"-Xmx{heap}" if heap and argument.startswith("-Xmx") else argument
            for argument in java_arguments([home], version)
        ]
        # in the order of Neo4j's own launcher
        java[java.index("-cp") + 1] = ":".join(map(str, [*plugins, *class_path]))
        with (home / "logs" / "console.log").open("wb") as output:
            child = subprocess.Popen(
                [java_home / "bin" / "java", *java, *folder_arguments(home), "--console-mode"],
                cwd=home,
                env={"JAVA_HOME": str(java_home), "NEO4J_HOME": name, "PATH": os.environ.get("PATH", "")},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            password_file = home / "password"
            password_file.touch(mode=0o600)
            password_file.write_text(secrets.token_urlsafe(24))
            record = Record(name, child.pid, port, version, ready=False, started=started_at(child.pid) or "")
            process.wait_until_ready(record, password_file.read_text())
            yield Server(f"bolt://{HOST}:{port}", password_file, child.pid, version)
        finally:
            child.terminate()
            child.wait()


@contextmanager
def loaded(file: Path) -> Iterator[Server]:
    """Run the local server with a loaded graph."""
    with (
        tempfile.TemporaryDirectory() as folder,
        local_server(Path(folder)) as server,
        server.driver() as driver,
    ):
        load_graph(driver, file)
        yield server


def load_graph(driver: Any, file: Path) -> None:
    """Load an edge list under `NAMES`."""
    from pcneo.annotate.load import load
    from pcneo.store.connection import connect

    load(connect(driver=driver), file, node_label="Person", relationship_type="KNOWS", key="id")


def in_process(task: str, *arguments: str, environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Run a function of `benchmarks.tasks` in a separate process and return its result."""
    own = {**(environment or os.environ), "PYTHONPATH": f"{ROOT / 'scripts'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "benchmarks.tasks", task, *arguments]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=own).stdout
    return json.loads(output.splitlines()[-1])
