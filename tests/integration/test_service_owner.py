"""What the owner of a service has: updates without being asked, metrics, a log, a configuration, a unit for systemd."""

from __future__ import annotations

import io
import json
import logging
import math
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import neo4j
import pytest
from graphs import Database
from neo4j_servers import Server
from places import ROOT
from services import Gate, ServiceProcess, answer, ask, service_processes, serving, wait_until

from pcneo import annotate
from pcneo.basics.config import ConnectionSettings
from pcneo.basics.selection import Selection
from pcneo.errors import ConnectionFailedError, GraphError, ParameterError, PcneoError
from pcneo.service.events import EventFormatter, log_event
from pcneo.service.figures import Figures
from pcneo.service.monitoring import monitored, parse_address
from pcneo.service.schedule import Schedule
from pcneo.service.service_settings import ServiceSettings, parse_duration
from pcneo.service.serving import Service
from pcneo.store import transaction
from pcneo.store.database import Database as Stored
from pcneo.store.lending import Lending
from pcneo.store.requests import RequestQueue

FRIENDS = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)]

ANALYZE = shutil.which("systemd-analyze")
GUIDE = ROOT / "pcneo" / "guide" / "operate-it.md"


@pytest.fixture(name="db")
def annotated_friends(db: Database) -> Database:
    """A database with a run of the graph `friends`."""
    db.put(FRIENDS)
    names: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
    annotate.write(db.store, graph="friends", p=["0.5", "0.3"], **names)
    return db


def written(db: Database) -> Any:
    """Hubs, memberships and records, by what they say."""
    return db.run(
        "MATCH (n) WHERE n:PCohesion OR n:PCohesionRun OR n:PCohesionVersion "
        "RETURN elementId(n) AS id, n {.*, replacedAt: null, heldAt: null} ORDER BY id"
    )


def test_whole_graphs_are_brought_up_to_date_without_being_asked(db, server):
    before = written(db)
    with serving(server, db.name, every=1.0):
        wait_until(lambda: db.run("MATCH (g:PCohesionGraph) WHERE g.rereadAt IS NOT NULL RETURN g"), "a reading")
        assert written(db) == before  # nothing is written where nothing changed
        db.run("MATCH (:Person {id: 3})-[r:KNOWS]->(:Person {id: 4}) DELETE r")
        wait_until(lambda: set(db.versions().values()) == {2}, "an update")
    assert db.members("friends@1/2")[4] == {4}


def test_an_unchanged_graph_is_read_as_a_whole_in_little_of_the_time(db, server, monkeypatch):
    reads: list[float] = []
    counted = Stored.count_keys

    def count_keys(self: Stored, *arguments: Any) -> Any:
        reads.append(time.monotonic())
        return counted(self, *arguments)

    monkeypatch.setattr(Stored, "count_keys", count_keys)
    with serving(server, db.name, every=1.0):
        wait_until(lambda: db.run("MATCH (g:PCohesionGraph) WHERE g.rereadAt IS NOT NULL RETURN g"), "a reading")
        ((seconds,),) = db.run(
            "MATCH (g:PCohesionGraph) RETURN duration.inSeconds(g.dueAt, g.rereadAt).milliseconds / 1000.0"
        )
        looked = db.run("MATCH (g:PCohesionGraph) RETURN g.dueAt")
        if seconds > 5:
            wait_until(lambda: db.run("MATCH (g:PCohesionGraph) RETURN g.dueAt") != looked, "another look")
            assert len(reads) == 1


def test_a_graph_that_cannot_be_brought_up_to_date_is_not_read_again_each_time(db, caplog):
    db.run("CREATE (:Person {id: 1})")  # a second vertex with this key, which also changes the counts
    queue, reads = RequestQueue(db.store), 0

    def progress(*_: object) -> None:
        nonlocal reads
        reads += 1

    watching = Schedule(queue, ServiceSettings(every=1.0), Figures(), progress, Lending())
    (graph,) = db.store.list_graphs()

    def look() -> int:
        """Look as if it were due, and return whether anything was read."""
        db.run("MATCH (g:PCohesionGraph) REMOVE g.dueAt")
        before = reads
        with suppress(GraphError):
            watching._look(graph, 1.0)
        return reads - before

    assert look() > 0
    assert db.run("MATCH (g:PCohesionGraph) RETURN g.rereadAt > datetime()") == [[True]]
    db.run("MATCH (g:PCohesionGraph) SET g.rereadAt = datetime() + duration('PT1H')")
    assert look() == 0
    db.run("CREATE (:Person {id: 100})")
    assert look() > 0
    db.run("MATCH (g:PCohesionGraph) SET g.rereadAt = datetime() - duration('PT1S')")
    assert look() > 0


def test_one_service_of_several_looks_at_a_graph(db, server, monkeypatch):
    from pcneo.store.requests import RequestQueue

    first, second = RequestQueue(db.store), RequestQueue(db.store)
    assert first.list_due() == {"friends"}
    assert first.claim_due("friends", 60, 1) is True
    assert second.claim_due("friends", 60, 1) is None
    assert second.list_due() == set()
    first.note_reading("friends", 60)
    db.run("MATCH (g:PCohesionGraph) SET g.dueAt = datetime() - duration('PT1S')")
    assert second.claim_due("friends", 60, 1) is False


def test_runs_of_single_vertices_are_left_alone(neo4j_driver, empty_database, server):
    db = Database(neo4j_driver, empty_database)
    db.put(FRIENDS)
    names: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
    annotate.write(db.store, graph="friends", p="0.5", vertices=[1], **names)
    db.run("MATCH (:Person {id: 0})-[r:KNOWS]->(:Person {id: 1}) DELETE r")
    with serving(server, db.name, every=1.0):
        wait_until(lambda: db.run("MATCH (g:PCohesionGraph) WHERE g.dueAt IS NOT NULL RETURN g"), "a look")
        time.sleep(1.5)
    assert db.versions() == {"friends@1/2:vertices": 1}


def fetch(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as answered:
            return answered.status, answered.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_metrics_and_health(db, server):
    pytest.importorskip("prometheus_client")
    with serving(server, db.name) as service, monitored(service, "0") as port:
        answer(db, ask(db, command="annotate", graph="friends", p="0.4"))
        answer(db, ask(db, command="annotate", graph="friends", p=2))
        wait_until(lambda: sum(service.figures.answered.values()) == 2)
        status, text = fetch(port, "/metrics")
        values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        assert status == 200
        assert float(values["pcneo_database_reachable"]) == 1
        assert float(values['pcneo_requests{status="complete"}']) == 1
        assert float(values['pcneo_requests{status="failed"}']) == 1
        assert float(values['pcneo_worked_requests_total{end="complete"}']) == 1
        members = sum(len(members) for members in db.members("friends@2/5").values())
        assert float(values["pcneo_memberships_written_total"]) == members
        assert float(values['pcneo_stage_seconds_sum{command="annotate",stage="request"}']) > 0
        assert float(values['pcneo_stage_seconds_count{command="annotate",stage="request"}']) == 2
        assert float(values['pcneo_stage_seconds_bucket{command="annotate",le="+Inf",stage="search"}']) == 1
        assert float(values["pcneo_oldest_request_seconds"]) == 0
        assert 0 <= float(values["pcneo_silence_seconds"]) < 30
        status, line = fetch(port, "/healthz")
        assert status == 200
        assert re.fullmatch(r"ok: the database answered \d+\.\d s ago\n", line)
        assert fetch(port, "/secrets")[0] == 404


def test_health_ends_with_the_first_poll_that_fails_and_says_how_long_ago_the_last_answer_was(db, server):
    """Within seconds, though the transaction itself is tried again for half a minute."""
    pytest.importorskip("prometheus_client")
    if urlsplit(server.uri).scheme != "bolt":
        pytest.skip("a database of somebody else's, by another protocol")
    with (
        Gate(server.uri) as gate,
        serving(replace(server, uri=gate.uri), db.name) as service,
        monitored(service, "0") as port,
    ):
        wait_until(lambda: fetch(port, "/healthz")[0] == 200)
        gate.shut()
        wait_until(lambda: fetch(port, "/healthz")[0] == 503, "ill health", patience=10.0)
        assert re.fullmatch(r"the database does not answer; it last did \d+\.\d s ago\n", fetch(port, "/healthz")[1])
        began = time.monotonic()
        assert "pcneo_database_reachable 0.0" in fetch(port, "/metrics")[1]
        assert time.monotonic() - began < 1
        gate.open()
        wait_until(lambda: fetch(port, "/healthz")[0] == 200, "health")


def test_a_database_that_has_long_said_nothing_is_no_sign_of_health(monkeypatch):
    figures = Figures()
    assert figures.health() == (False, "the database does not answer")
    figures.starting = True
    assert figures.health() == (False, "starting: the search is compiled first, for up to half a minute")
    figures.note_break()
    assert figures.health() == (False, "the database does not answer")
    figures.note_answer()
    assert figures.health()[0]
    monkeypatch.setattr("pcneo.service.figures.SILENT_SECONDS", 0.0)
    well, line = figures.health()
    assert not well
    # No connection has broken, so a thread of the service may be what is stuck.
    assert re.fullmatch(r"no contact for \d+\.\d s: either the database hangs, or this process does", line)


def test_the_oldest_request_counts_from_its_creation_before_a_service_has_seen_it(db):
    queue = RequestQueue(db.store)
    db.run("CREATE (:PCohesionRequest {command: 'check', requestedAt: datetime() - duration('PT100S')})")
    db.run("CREATE (:PCohesionRequest {command: 'check', requestedAt: datetime() + duration('PT100S')})")
    db.run(
        "CREATE (:PCohesionRequest {command: 'check', requestedAt: 'long ago'}), (:PCohesionRequest {status: 'odd'})"
    )
    number, seconds = queue.count_requests()["requested"]
    assert number == 3
    assert 100 <= seconds < 400


def test_requests_of_times_that_cannot_be_theirs_are_as_if_they_had_just_come(db):
    db.run("CREATE (:PCohesionRequest {command: 'check', requestedAt: datetime() + duration('PT100S')})")
    db.run("CREATE (:PCohesionRequest {command: 'check', requestedAt: 'long ago'})")
    assert RequestQueue(db.store).count_requests() == {"requested": (2, 0)}


def test_health_says_when_the_database_does_not_answer():
    pytest.importorskip("prometheus_client")
    nowhere = ConnectionSettings("bolt://127.0.0.1:9", "neo4j", "x")
    with monitored(Service(ServiceSettings(), lambda: nowhere), "127.0.0.1:0") as port:
        assert fetch(port, "/healthz") == (503, "the database does not answer\n")
        assert "pcneo_database_reachable 0.0" in fetch(port, "/metrics")[1]
    service = Service(ServiceSettings(), lambda: nowhere)
    service.figures.starting = True
    with monitored(service, "127.0.0.1:0") as port:
        assert fetch(port, "/healthz")[1].startswith("starting: ")
        assert "pcneo_database_reachable" not in fetch(port, "/metrics")[1]


def test_a_port_that_somebody_listens_on_is_no_wrong_argument_since_it_may_be_free_soon():
    pytest.importorskip("prometheus_client")
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        service = Service(ServiceSettings(), lambda: ConnectionSettings("bolt://127.0.0.1:9", "neo4j", "x"))
        with (
            pytest.raises(PcneoError, match=f"{address}: another process listens there") as caught,
            monitored(service, address),
        ):
            pass
    assert caught.value.exit_code == 1


@pytest.mark.parametrize("address", ["", "host", "host:", "host:port", "1.2.3.4:70000", "1.2.3.4:-1"])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(ParameterError, match="is not a valid address"):
        parse_address(address)


def test_metrics_are_on_loopback_unless_another_host_is_named():
    assert parse_address("9464") == parse_address(":9464") == ("127.0.0.1", 9464)
    assert parse_address("[::1]:9464") == ("::1", 9464)
    assert parse_address("0.0.0.0:9464") == ("0.0.0.0", 9464)  # noqa: S104


@pytest.mark.parametrize(("text", "seconds"), [("60s", 60), ("5m", 300), ("1h", 3600), ("2d", 172_800), ("1.5", 1.5)])
def test_times_are_read_as_they_are_written(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "s", "0", "-5s", "nan", "inf", "5w", "5 minutes"])
def test_a_time_that_is_none_is_refused(text):
    with pytest.raises(ParameterError, match="is not a valid time"):
        parse_duration(text)


def lines_of(as_json: bool, log: Any) -> list[str]:
    output = io.StringIO()
    handler = logging.StreamHandler(output)
    handler.setFormatter(EventFormatter(as_json=as_json))
    logger = logging.getLogger("pcneo.service")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        log()
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    return output.getvalue().splitlines()


def test_an_event_is_one_line_whatever_is_in_it():
    def log() -> None:
        log_event("complete", request="a\nb", seconds=0.25, message='it "is" done', nothing=None)

    (line,) = lines_of(False, log)
    assert line.endswith(r'complete request="a\nb" seconds=0.250 message="it \"is\" done"')
    (line,) = lines_of(True, log)
    event = json.loads(line)
    assert (event["event"], event["level"], event["request"], event["seconds"]) == ("complete", "info", "a\nb", 0.25)
    assert "nothing" not in event


def test_a_warning_is_told_from_what_is_usual():
    said, warned = lines_of(False, lambda: (log_event("serving"), log_event("left alone", level=logging.WARNING)))
    assert said.endswith("Z serving") or said.endswith("+00:00 serving")
    assert warned.endswith("WARNING left alone")


@contextmanager
def other_password(driver: neo4j.Driver, server: Server, other: str) -> Iterator[None]:
    """The server's password is another one inside the block."""

    def change(now: str, then: str) -> None:
        with neo4j.GraphDatabase.driver(server.uri, auth=(server.username, now)) as own:
            own.execute_query(
                "ALTER CURRENT USER SET PASSWORD FROM $now TO $then", now=now, then=then, database_="system"
            )

    change(server.password, other)
    try:
        yield
    finally:
        change(other, server.password)


@pytest.mark.long
def test_a_configuration_file_a_log_of_json_and_an_end(db, server, tmp_path):
    file = tmp_path / "pcneo.toml"
    file.write_text('graph = ["friends"]\nmax-vertices = 2\nlog-json = true\nevery = "1h"\n')
    with service_processes(server, 1, "--config", str(file)) as (service,):
        too_many = answer(db, ask(db, command="annotate", graph="friends", p="0.4", by="ann", vertices=[1, 2, 3]))
        assert "this service takes 2 per request" in too_many["message"]
        service.send(signal.SIGTERM)
        assert service.process.wait(60) == 0
        events = [json.loads(line) for line in service.text().splitlines()]
    assert [event["event"] for event in events if event["event"] in ("serving", "failed", "ended")] == [
        "serving",
        "failed",
        "ended",
    ]
    said = [(event["graph"], event["p"], event["by"]) for event in events if event["event"] in ("claimed", "failed")]
    assert said == [("friends", "0.4", "ann")] * 2
    assert server.password not in str(events)


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--max-memberships", "0"), "max-memberships must be at least 1"),
        (("--every", "soon"), "'soon' is not a valid time"),
        (("--metrics", "nonsense"), "'nonsense' is not a valid address"),
        (("--config", "no such file"), "no such file: there is no such file."),
    ],
)
def test_a_mistake_in_the_configuration_ends_it(server, arguments, says):
    service = ServiceProcess(server, *arguments)
    assert service.process.wait(90) == 2
    assert says in service.text()
    service.end()


@pytest.mark.parametrize(
    ("limit", "says"),
    [
        ({"max_vertices": 0}, "max-vertices must be at least 1"),
        ({"max_waiting": "many"}, "max-waiting must be a number, not 'many'"),
        ({"keep_days": True}, "keep-days must be a number, not True"),
        ({"keep_answers": 1.5}, "keep-answers must be a number, not 1.5"),
        ({"grace": -1}, "grace cannot be negative"),
        ({"grace": math.nan}, "grace must be at most 86,400 seconds, not nan"),
        ({"grace": math.inf}, "grace must be at most 86,400 seconds, not inf"),
        ({"grace": 1e12}, "grace must be at most 86,400 seconds"),
    ],
)
def test_a_limit_that_cannot_be_meant_is_refused(limit, says):
    from pcneo.service.service_settings import ServiceSettings

    with pytest.raises(ParameterError, match=says):
        ServiceSettings(**limit)
    assert ServiceSettings(grace=0, concurrency=2).grace == 0


def test_the_limits_that_the_guide_prints_are_the_defaults():
    from pcneo.service.service_settings import LIMITS, ServiceSettings

    (printed,) = re.findall(r"```toml\n(.+?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    named = {name.replace("-", "_"): value for name, value in tomllib.loads(printed).items()}
    assert named.pop("every")
    assert named == {name: getattr(ServiceSettings(), name) for name in LIMITS if name != "concurrency"}


def test_a_missing_file_and_an_unknown_option_in_one_are_refused(tmp_path: Path):
    from pcneo.service.service_settings import read_configuration

    file = tmp_path / "pcneo.toml"
    with pytest.raises(ParameterError, match=r"pcneo\.toml: there is no such file\.$"):
        read_configuration(file, ["max_vertices"])
    file.write_text("max-vertexes = 5\n")
    unknown = "has an unknown option 'max_vertexes'; the options are every, max-vertices"
    with pytest.raises(ParameterError, match=unknown):
        read_configuration(file, ["max_vertices", "every"])


def test_the_unit_runs_this_command_and_stays_down_after_a_mistake(monkeypatch):
    from pcneo.service.unit import systemd_unit

    unit = systemd_unit(["serve", "--graph", "my friends", "--every", "60s"], 20)
    (start,) = [line for line in unit.splitlines() if line.startswith("ExecStart=")]
    assert start.endswith('-m pcneo serve --graph "my friends" --every 60s')
    assert "RestartPreventExitStatus=2 5" in unit
    assert "TimeoutStopSec=300\n" in unit  # the grace, and time to remove what a whole graph's request wrote
    assert "password" not in start.lower()


@pytest.mark.skipif(ANALYZE is None, reason="there is no systemd-analyze on this machine")
def test_systemd_takes_the_unit(tmp_path):
    from pcneo.service.unit import systemd_unit

    def complaints(text):
        file = tmp_path / "pcneo.service"
        file.write_text(text)
        done = subprocess.run([str(ANALYZE), "verify", file], capture_output=True, text=True, check=False)
        return done.stderr

    unit = systemd_unit(["serve", "--graph", 'a "quoted" 50 % of $HOME \\ and \n more', "--every", "60s"], 20)
    assert complaints(unit) == ""
    assert "sometimes" in complaints(unit.replace("on-failure", "sometimes"))


@pytest.mark.long
def test_a_wrong_password_ends_a_service_and_a_changed_one_is_waited_out(db, server, monkeypatch):
    monkeypatch.setattr(transaction, "PATIENCE_SECONDS", 3.0)
    if server.database is not None:
        pytest.skip("a database of somebody else's")
    own = ConnectionSettings(server.uri, server.username, server.password, db.name)
    with Gate(server.uri) as gate, other_password(db.driver, server, "another one of eight"):
        first = Service(ServiceSettings(), lambda: own)
        with pytest.raises(ConnectionFailedError, match="refused the user name or password"):
            first.run()  # a mistake in the configuration, which does not go away by itself
        changed, wrong = (
            ConnectionSettings(gate.uri, server.username, password, db.name)
            for password in ("another one of eight", "no longer this one")
        )
        settings = [changed]
        service = Service(ServiceSettings(), lambda: settings[0])
        thread = threading.Thread(target=service.run)
        thread.start()
        try:
            wait_until(lambda: service.figures.reachable, "a connection")
            settings[0] = wrong
            gate.shut()
            wait_until(lambda: not service.figures.reachable, "a broken connection")
            wait_until(lambda: service.queue is None, "a connection that is given up")  # a short break it survives
            gate.open()
            time.sleep(3)
            assert thread.is_alive()
            assert not service.figures.reachable
            settings[0] = changed
            wait_until(lambda: service.figures.reachable, "a connection with the new password")
        finally:
            service.end()
            thread.join(60)
        assert not thread.is_alive()
