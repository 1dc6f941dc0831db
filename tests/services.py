"""A service under test: in a thread of this process, or in a separate process that can be stopped and killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from graphs import Database
from neo4j_servers import Server

from pcneo.basics.config import ConnectionSettings
from pcneo.service.service_settings import ServiceSettings
from pcneo.service.serving import Service

PATIENCE = 300.0
"""Seconds for what takes one: the machine may be busy, and the kernels not compiled yet."""


def wait_until(done: Callable[[], Any], what: str = "it", patience: float = PATIENCE) -> Any:
    """Wait for a true value, and return it."""
    deadline = time.monotonic() + patience
    while not (value := done()):
        assert time.monotonic() < deadline, f"{what} did not happen in {patience} seconds"
        time.sleep(0.05)
    return value


class Gate:
    """A way to a server that can be shut: connections end, and nobody answers there until it is opened again."""

    def __init__(self, uri: str) -> None:
        """Open it on a port of its own."""
        parts = urlsplit(uri)
        self._to, self._port, self._sockets = (parts.hostname, parts.port), 0, list[socket.socket]()
        self._changing = threading.Lock()
        self.open()
        self.uri = f"bolt://127.0.0.1:{self._port}"

    def __enter__(self) -> Gate:
        return self

    def __exit__(self, *_: object) -> None:
        self.shut()

    def open(self) -> None:
        """Let connections through."""
        listener = socket.create_server(("127.0.0.1", self._port))
        self._port = listener.getsockname()[1]
        self._sockets.append(listener)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def shut(self) -> None:
        """End all connections, and take no new one."""
        with self._changing:
            while self._sockets:
                self._end(self._sockets.pop())

    def _end(self, ended: socket.socket) -> None:
        with suppress(OSError):
            ended.shutdown(socket.SHUT_RDWR)
        ended.close()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                ends = [listener.accept()[0], socket.create_connection(self._to)]
                with self._changing:
                    if listener not in self._sockets:  # shut meanwhile: what came last must not live on
                        for end in ends:
                            self._end(end)
                        return
                    self._sockets += ends
                for source, target in (ends, reversed(ends)):
                    threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while taken := source.recv(65_536):
                target.sendall(taken)
            target.shutdown(socket.SHUT_RDWR)


@contextmanager
def serving(server: Server, database: str, **settings: Any) -> Iterator[Service]:
    """A service in a thread, ended when the block is."""
    connection = ConnectionSettings(server.uri, server.username, server.password, database)
    service = Service(ServiceSettings(**settings), lambda: connection)
    thread = threading.Thread(target=service.run, name="service under test")
    thread.start()
    try:
        wait_until(lambda: service.figures.reachable, "the service's first look")
        yield service
    finally:
        service.end()
        service.end()
        thread.join(PATIENCE)
        assert not thread.is_alive()


class ServiceProcess:
    """`pcneo serve` in a process of its own."""

    def __init__(self, server: Server, *arguments: str) -> None:
        """Start it."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
        folder = tempfile.mkdtemp(prefix="pcneo-service-")
        self.log = Path(folder) / "log"
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "pcneo", "serve", *arguments],
                env={**clean, **server.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    def text(self) -> str:
        """What it has logged so far."""
        return self.log.read_text(encoding="utf-8")

    def wait_for(self, word: str) -> None:
        """Wait until it has logged a word."""
        wait_until(lambda: word in self.text() or self.process.poll() is not None, word)
        assert word in self.text(), self.text()

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def end(self) -> int:
        """Kill it if it has not ended, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        code = self.process.wait(PATIENCE)
        self.log.unlink()
        self.log.parent.rmdir()
        return code


@contextmanager
def service_processes(server: Server, number: int = 1, *arguments: str) -> Iterator[list[ServiceProcess]]:
    """Several processes that serve, once the block begins; killed at its end."""
    started = [ServiceProcess(server, *arguments) for _ in range(number)]
    try:
        for process in started:
            process.wait_for("serving")
        yield started
    finally:
        for process in started:
            process.end()


def configured(**limits: object) -> tuple[str, str]:
    """The option that names a new file with these limits."""
    file = Path(tempfile.mkdtemp(prefix="pcneo-service-")) / "pcneo.toml"
    file.write_text("".join(f"{name} = {value}\n" for name, value in limits.items()))
    return "--config", str(file)


def ask(db: Database, **properties: Any) -> Any:
    """Create a request as a user does, in plain Cypher, with an identifier of its own; return that."""
    values = {"id": f"request {time.monotonic_ns()}", **properties}
    db.run("CREATE (:PCohesionRequest $values)", values=values)
    return values["id"]


def answer(db: Database, request: Any, patience: float = PATIENCE) -> dict[str, Any]:
    """Wait for the answer of a request, and return its properties, and `runs` with the version of each."""
    wait_until(
        lambda: db.run(
            "MATCH (q:PCohesionRequest {id: $id}) WHERE q.status IN ['complete', 'failed', 'cancelled'] RETURN 1",
            id=request,
        ),
        f"the answer to {request!r}",
        patience,
    )
    return look(db, request)


def look(db: Database, request: Any) -> dict[str, Any]:
    """The properties of a request as they are, and `runs` with the version of each that it produced."""
    ((properties, runs),) = db.run(
        "MATCH (q:PCohesionRequest {id: $id}) "
        "RETURN properties(q), COLLECT { MATCH (q)-[e:PRODUCED]->(r:PCohesionRun) RETURN [r.id, e.version] }",
        id=request,
    )
    return {**properties, "runs": {run: version for run, version in runs}}
