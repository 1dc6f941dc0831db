"""The local server, a real one: every start here is Neo4j's own start.

Jars come from the user's cache (and go there on the first run); data and records live in temporary folders.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import neo4j
import neo4j_servers
import pytest
from graphs import own_text
from services import ServiceProcess, wait_until
from typer.testing import CliRunner

from pcneo.cli import app
from pcneo.cli.console import chosen_folder
from pcneo.errors import ConnectionFailedError, LocalServerError
from pcneo.server import companion, configuration, folders, servers
from pcneo.server.data_folder import password_file
from pcneo.server.process import console_log
from pcneo.server.records import folder_arguments, read_record, running
from pcneo.server.servers import LocalServer
from pcneo.store.connection import connect

START = (
    "import sys; from pathlib import Path; from pcneo.server.servers import start;"
    "start(Path(sys.argv[1]), version=sys.argv[2])"
)
LONG_TERM = "5.26.25"
VERSION = "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions[0]"


@pytest.fixture(scope="module", autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Data and records apart from the user's; whatever still runs there at the end is killed."""
    root = tmp_path_factory.mktemp("local-server")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PCNEO_DATA_DIR", str(root / "data"))
        patch.setenv("PCNEO_STATE_DIR", str(root / "state"))
        yield root
        for record in running():
            os.kill(record.pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def server(own_folders: Path) -> LocalServer:
    return servers.start()


def ask(server: LocalServer, statement: str, database: str = "neo4j") -> list[list[Any]]:
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        return [record.values() for record in driver.execute_query(own_text(statement), database_=database).records]


def command_lines() -> str:
    ps = ["ps", "-ww", "-eo", "pid=,command="]
    return subprocess.run(ps, capture_output=True, text=True, check=True).stdout


def processes_on(folder: Path) -> list[str]:
    """Return the numbers of the processes that run Neo4j on a data folder."""
    return [line.split()[0] for line in command_lines().splitlines() if " ".join(folder_arguments(folder)) in line]


def wait_for(condition: Callable[[], object], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def test_a_started_server_answers_and_is_of_the_pinned_version(server):
    assert ask(server, VERSION) == [[servers.DEFAULT_VERSION]]
    assert server.data == folders.data_folder()
    assert (server.already_running, server.is_new) == (False, True)
    assert servers.find_running() == servers.status() == server


def test_only_its_user_can_get_at_it(server):
    assert server.uri.startswith("bolt://127.0.0.1:")
    addresses = ask(server, "SHOW SETTINGS YIELD name, value WHERE name ENDS WITH '.listen_address' RETURN value")
    assert addresses
    assert all(value.startswith("127.0.0.1:") for (value,) in addresses)
    switches = dict(ask(server, "SHOW SETTINGS YIELD name, value WHERE name ENDS WITH '.enabled' RETURN name, value"))
    for service in ("server.http", "server.https", "server.fleet_discovery", "dbms.fleet_manager", "dbms.usage_report"):
        assert switches[f"{service}.enabled"] == "false"
    secret = password_file(server.data)
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert server.password not in repr(server)
    assert server.password not in command_lines()
    holding = [
        path for path in (server.data.rglob("*")) if path.is_file() and server.password.encode() in path.read_bytes()
    ]
    assert holding == [secret]


@pytest.mark.thorough
def test_a_server_that_stands_still_is_told_of_and_given_up_within_a_minute(server):
    """The connection stays open, and nothing comes from it."""
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        store = connect(driver=driver, database="neo4j")
        os.kill(server.pid, signal.SIGSTOP)
        began = time.monotonic()
        try:
            with pytest.raises(ConnectionFailedError), store.transaction({}) as transaction:
                transaction.run("list_graphs")
            seconds = time.monotonic() - began
        finally:
            os.kill(server.pid, signal.SIGCONT)
    assert 40 < seconds < 75


def test_the_initial_password_is_gone(server):
    with (
        neo4j.GraphDatabase.driver(server.uri, auth=("neo4j", "neo4j")) as driver,
        pytest.raises(neo4j.exceptions.AuthError),
    ):
        driver.verify_connectivity()


def test_a_second_start_says_that_it_runs(server):
    again = servers.start()
    assert (again.already_running, again.is_new) == (True, False)
    assert (again.pid, again.uri, again.password) == (server.pid, server.uri, server.password)


def test_a_changed_password_file_is_said_so(server):
    password_file(server.data).write_text("forgotten-by-now")
    with pytest.raises(LocalServerError, match="refuses the password"):
        servers.start()
    password_file(server.data).write_text(server.password)
    assert servers.start() == replace(server, already_running=True)


def test_its_port_is_refused_to_another(server, own_folders):
    port = int(server.uri.rpartition(":")[2])
    with pytest.raises(LocalServerError, match=f"Port {port} cannot be used"):
        servers.start(own_folders / "other", bolt_port=port)
    assert not processes_on(own_folders / "other")


def test_another_version_is_refused_its_data(server):
    with pytest.raises(LocalServerError, match=f"created by Neo4j {servers.DEFAULT_VERSION}"):
        servers.start(version=LONG_TERM)


def test_a_folder_that_is_named_before_the_command_is_the_one_that_is_meant(server, own_folders):
    other = own_folders / "other data"
    for command, code, said in (
        ("status", 1, f"No local server runs on {other}"),
        ("stop", 0, f"no local server was running on {other}"),
    ):
        answered = CliRunner().invoke(app, ["--data", str(other), "server", command], env={"COLUMNS": "500"})
        assert (answered.exit_code, said in answered.output) == (code, True), answered.output
        assert chosen_folder() is None, "the next command of this process means it too"
    assert processes_on(server.data) == [str(server.pid)]


def test_a_second_server_on_its_data_is_refused_even_without_a_record(server, own_folders, monkeypatch):
    monkeypatch.setenv("PCNEO_STATE_DIR", str(own_folders / "other-state"))
    assert servers.status() is None
    with pytest.raises(LocalServerError, match="Another Neo4j"):
        servers.start()
    assert processes_on(server.data) == [str(server.pid)]


@pytest.mark.parametrize(
    ("number", "sign", "version"),
    [
        (signal.SIGINT, "logs/console.log", servers.DEFAULT_VERSION),
        (signal.SIGTERM, "logs/console.log", LONG_TERM),
        pytest.param(signal.SIGTERM, "data/databases/neo4j", LONG_TERM, marks=pytest.mark.thorough),
        pytest.param(signal.SIGINT, "data/databases/neo4j", LONG_TERM, marks=pytest.mark.thorough),
        pytest.param(signal.SIGTERM, "data/databases/neo4j", servers.DEFAULT_VERSION, marks=pytest.mark.thorough),
    ],
)
def test_an_interrupted_start_leaves_no_process_and_no_record(own_folders, number, sign, version):
    folder = own_folders / f"interrupted-{number.name}-{version}"
    starter = subprocess.Popen([sys.executable, "-c", START, folder, version], stderr=subprocess.DEVNULL)
    wait_for(lambda: (folder / sign).exists())
    with pytest.raises(LocalServerError, match="Another process is starting or stopping"):
        servers.start(folder, version=version)
    assert servers.status(folder) is None
    starter.send_signal(number)
    assert starter.wait(300) in (130, 143, -signal.SIGINT)
    assert processes_on(folder) == []
    assert read_record(folder) is None
    assert not (folder / "data").exists()


@pytest.mark.parametrize("version", [LONG_TERM, pytest.param(servers.DEFAULT_VERSION, marks=pytest.mark.thorough)])
def test_a_server_whose_starter_was_killed_is_taken_over(own_folders, version):
    # where an interrupted start must not be in the way
    folder = own_folders / f"interrupted-{signal.SIGTERM.name}-{version}"
    starter = subprocess.Popen([sys.executable, "-c", START, folder, version])
    wait_for(lambda: read_record(folder))
    starter.kill()
    starter.wait()
    taken = servers.start(folder, version=version)
    assert taken.already_running
    assert ask(taken, VERSION) == [[version]]
    assert servers.stop(folder) is True
    assert servers.stop(folder) is False
    assert processes_on(folder) == []


def test_a_server_that_dies_while_starting_shows_its_log(own_folders, monkeypatch):
    monkeypatch.setitem(configuration.SETTINGS, "server.no_such_setting", "1")
    folder = own_folders / "dies"
    with pytest.raises(
        LocalServerError, match=r"ended before it answered \(exit code 1\)(?s:.*)server\.no_such_setting"
    ):
        servers.start(folder)
    assert console_log(folder).exists()
    assert read_record(folder) is None


@pytest.mark.parametrize("heap", ["1000000g", "1000g"])
def test_too_little_memory_is_said_so(own_folders, monkeypatch, heap):
    monkeypatch.setattr(configuration, "HEAP", heap)
    monkeypatch.setitem(configuration.SETTINGS, "server.memory.heap.max_size", heap)
    with pytest.raises(LocalServerError, match="Too little memory"):
        servers.start(own_folders / "heap")


def check_service_beside(started: LocalServer) -> None:
    """It answers, is one however often it is started, and what it logs is for the owner alone."""
    assert started.service is not None
    assert servers.start(serve=True).service == started.service == companion.service_process(started.data)
    ask(started, "CREATE (:PCohesionRequest {id: 1, command: 'annotate', graph: 'friends'})")
    log = companion.service_log(started.data)
    wait_until(lambda: ask(started, "MATCH (q:PCohesionRequest) RETURN q.status") == [["failed"]], "an answer")
    ((message,),) = ask(started, "MATCH (q:PCohesionRequest) RETURN q.message")
    assert "There is no graph 'friends' in the database" in message
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert started.password not in log.read_text()


@pytest.mark.thorough
@pytest.mark.parametrize("crash", [False, True])
def test_a_service_outlives_a_restart_of_its_database(own_folders, crash):
    """What a restart looks like to a service is tested every time by `test_service.py`."""
    folder = own_folders / f"restarted {crash}"
    started = servers.start(folder)
    port = urlsplit(started.uri).port
    reached = neo4j_servers.Server("", started.uri, started.username, started.password, None)
    served = ServiceProcess(reached)
    try:
        served.wait_for("serving")
        if crash:
            os.kill(started.pid, signal.SIGKILL)
        else:
            servers.stop(folder)
        served.wait_for("cannot reach the database; trying again in ")
        servers.start(folder, bolt_port=port)
        ask(started, "CREATE (:PCohesionRequest {id: 1, command: 'annotate', graph: 'friends'})")
        wait_until(lambda: ask(started, "MATCH (q:PCohesionRequest) RETURN q.status") == [["failed"]], "an answer")
        assert served.process.poll() is None
    finally:
        served.end()
        servers.stop(folder)


def test_no_process_is_ended_that_is_not_the_recorded_service(tmp_path):
    record = tmp_path / "service.json"
    for text in (f'[{os.getpid()}, "another moment"]', "[0, null]", '[[1], "x"]', '["7", "x"]', "nonsense", "7"):
        record.write_text(text)
        record.chmod(0o600)
        assert companion.service_process(tmp_path) is None
        assert not companion.end_service(tmp_path)


def test_the_graph_survives_a_stop_and_a_crash_and_neo4j_browser_and_a_service_come_and_go(server, caplog):
    """One server, started three times: as it is, with Neo4j Browser, and after a crash with a service beside it."""
    ask(server, "CREATE (:Kept {id: 1})")
    assert servers.stop() is True
    assert servers.status() is None
    assert processes_on(server.data) == []
    with_browser = servers.start(bolt_port=free_port(), browser=True)
    assert ask(with_browser, "MATCH (n:Kept) RETURN n.id") == [[1]]
    check_browser(with_browser)
    assert servers.start(browser=True).browser == servers.status().browser == with_browser.browser  # pyright: ignore[reportOptionalMemberAccess]
    os.kill(with_browser.pid, signal.SIGKILL)
    wait_for(lambda: servers.status() is None)  # a process that ends has lost its command line before it is gone
    wait_for(lambda: not processes_on(with_browser.data))
    assert f"process {with_browser.pid}) is gone" in caplog.text
    plain = servers.start(serve=True)
    assert ask(plain, "MATCH (n:Kept) RETURN n.id") == [[1]]
    assert plain.browser is None
    check_service_beside(plain)
    with pytest.raises(LocalServerError, match=r"is already running, without Neo4j Browser.*pcneo server stop"):
        servers.start(browser=True)
    assert servers.stop() is True
    assert companion.service_process(plain.data) is None
    assert companion.service_log(plain.data).read_text().endswith("ended\n")
    assert not companion.end_service(plain.data)


def answer(address: str, **headers: str) -> tuple[int, bytes]:
    """Status and the first bytes of what is answered to a plain request, or to one for a web socket."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.netloc, timeout=30)
    try:
        connection.request("GET", place.path, headers=headers)
        response = connection.getresponse()
        return response.status, b"" if response.status == 101 else response.read()
    finally:
        connection.close()


def check_browser(server: LocalServer) -> None:
    """It is there for this machine alone, speaks to this server alone, and takes no queries over HTTP."""
    assert server.browser is not None
    address, _, prefilled = server.browser.partition("?")
    assert address.startswith("http://127.0.0.1:")
    assert prefilled == f"dbms={server.uri.replace('//', '//neo4j@')}"
    status, page = answer(address)
    assert (status, b"<title>Neo4j Browser</title>" in page) == (200, True)
    assert answer(address.replace("/browser/", "/db/neo4j/tx/commit"))[0] == 404  # no queries over HTTP
    # Browser speaks Bolt over a web socket on Bolt's own port.
    upgrade = {"Sec-WebSocket-Key": "c29tZSBzaXh0ZWVuIGJ5dA==", "Sec-WebSocket-Version": "13"}
    assert answer(server.uri.replace("bolt:", "http:"), Connection="Upgrade", Upgrade="websocket", **upgrade)[0] == 101
    settings = dict(ask(server, "SHOW SETTINGS YIELD name, value RETURN name, value"))
    assert all(
        value.startswith("127.0.0.1:")
        for name, value in settings.items()
        if isinstance(name, str) and isinstance(value, str) and name.endswith(".listen_address")
    )
    policy = str(settings["dbms.security.http_static_content_security_policy_header"])
    assert not re.search(r"\w+\.(com|io|org)\b|https:|wss?: ", policy)
    command = str(settings["browser.post_connect_cmd"])
    style, end, after = command.partition("; ")
    assert json.loads(style.removeprefix("style "))["node.PCohesion"]["caption"] == "{size}"
    assert (end, after) == ("; ", "clear")  # what the style prints would be the first thing to see


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]
