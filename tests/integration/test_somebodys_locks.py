"""Open transactions of users: work that needs their vertices is given up in time, by name, and all else goes on."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import neo4j
import pytest
from campaign.ground import at_pace
from graphs import Database, cycle, own_text
from lengths import usual_or_thorough
from neo4j_servers import Server
from services import answer, ask, configured, look, service_processes, serving, wait_until

from pcneo import aio, annotate
from pcneo.annotate import load as loading
from pcneo.basics.selection import Selection
from pcneo.errors import BusyError, PcneoError
from pcneo.release import budget
from pcneo.release.checking import check
from pcneo.service import placing
from pcneo.store import sessions, waiting
from pcneo.store.graph_loader import GraphLoader
from pcneo.store.lock import GraphLock
from pcneo.store.statements import load_statement
from pcneo.store.waiting import lock_patience
from pcneo.stored import cleaning

pytestmark = pytest.mark.schema("rings")

RING = 12
LIMIT = 15.0
"""Seconds after which every wait has ended."""
LABELS = {"ring": "Ring", "other": "Other", "friends": "Person"}
NAMED = ("--graph", "ring", "--node-label", "Ring", "--relationship-type", "KNOWS", "--key", "id", "-p", "2/3")


@pytest.fixture(name="db")
def two_rings(db: Database) -> Database:
    """A database that knows two graphs of one ring each, `ring` and `other`; all of a ring is one cohesion."""
    for name, label in (("ring", "Ring"), ("other", "Other")):
        db.put(cycle(RING), label=label)
        db.name_graph(name, label)
    return db


@contextmanager
def held(db: Database, *texts: str) -> Iterator[list[neo4j.Transaction]]:
    """Transactions that a user has left open."""
    with ExitStack() as stack:
        opened = []
        for text in texts:
            session = stack.enter_context(db.driver.session(database=db.name))
            transaction = stack.enter_context(session.begin_transaction())
            transaction.run(own_text(text)).consume()
            stack.callback(transaction.close)  # which rolls it back
            opened.append(transaction)
        yield opened


VERTEX = "MATCH (v:Ring {id: 1}) SET v.y = 1"


def blocker(db: Database) -> str:
    """The name of the one open transaction of a user."""
    ((name,),) = db.run(
        "SHOW TRANSACTIONS YIELD transactionId, metaData, activeLockCount "
        "WHERE metaData.pcneo IS NULL AND activeLockCount > 0 RETURN transactionId"
    )
    return name


def write(db: Database, graph: str = "ring", **options: Any) -> annotate.UpdatedRun:
    asked: dict[str, Any] = {"p": "2/3", "selection": Selection(LABELS[graph], "KNOWS", "id"), **options}
    return annotate.write(db.store, graph=graph, **asked).runs[0]


def nothing_wrong(db: Database) -> None:
    checked = check(db.store)
    assert checked.findings == ()
    assert checked.all_well, checked


def given_up(db: Database, action: Any) -> str:
    """Do what must be given up as busy, in time and with the blocker's name; return the message."""
    name, began = blocker(db), time.monotonic()
    with pytest.raises(BusyError) as caught:
        action()
    assert time.monotonic() - began < at_pace(LIMIT)
    assert name in str(caught.value)
    assert "user 'neo4j' at 127.0.0.1" in str(caught.value)
    assert "since 20" in str(caught.value)
    assert not db.run("SHOW TRANSACTIONS YIELD metaData WHERE metaData.pcneo IS NOT NULL RETURN metaData")
    return str(caught.value)


@pytest.fixture
def soon() -> Iterator[None]:
    """Wait for two seconds instead of ten, but under --thorough."""
    with lock_patience(usual_or_thorough(2.0, waiting.BLOCKED_SECONDS)):
        yield


MEANWHILE: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "a key": (
        "hold_vertices",
        "MATCH (v:Ring {id: 1}) SET v.id = 1001",
        {"keys": [1]},
        "MATCH (v:Ring) WHERE v.id IN [1, 1001] RETURN v.id = 1001",
    ),
    "a relationship": (
        "hold_vertices",
        "MATCH (:Ring {id: 1})-[few]-() SET few.id = 5",
        {"keys": [1]},
        "MATCH (:Ring {id: 1})-[few]-() RETURN all(id IN collect(few.id) WHERE id = 5)",
    ),
    "a member": (
        "delete_unseen",
        "MATCH (v:Ring {id: 1}) SET v.run = 'mine'",
        {"run": "r", "version": 1, "limit": 10, "careful": True},
        "MATCH (v:Ring {id: 1}) RETURN v.run = 'mine'",
    ),
    "a retired member": (
        "delete_retired",
        "MATCH (v:Ring {id: 1})-[few]-(:Ring) SET v.run = 'mine', few.run = 'mine'",
        {"run": "r", "after": 1, "by": 9, "limit": 10, "careful": True},
        "MATCH (v:Ring {id: 1})-[few]-(:Ring) WITH collect(v.run) + collect(few.run) AS runs "
        "RETURN all(run IN runs WHERE run = 'mine')",
    ),
    "a run with an old answer": (
        "delete_answers",
        "MATCH (run:PCohesionRun {id: 'r'}) SET run.version = 2",
        {"seconds": 0, "keep": 0, "limit": 10},
        "MATCH (run:PCohesionRun {id: 'r'}) RETURN run.version = 2",
    ),
    "a run that is answered": (
        "finish_request",
        "MATCH (run:PCohesionRun {id: 'r'}) SET run.version = 2",
        {
            "id": 8,
            "token": "t",
            "status": "complete",
            "message": None,
            "progress": 1.0,
            "version": 1,
            "runs": [{"run": "r", "version": 1}],
        },
        "MATCH (run:PCohesionRun {id: 'r'}) RETURN run.version = 2",
    ),
}
"""The statement that waits, what somebody has set meanwhile, the statement's parameters, and whether that stays."""


@pytest.mark.parametrize("what", MEANWHILE)
def test_what_somebody_commits_while_a_statement_waits_for_the_lock_stays(db: Database, what: str) -> None:
    name, change, parameters, stays = MEANWHILE[what]
    db.run(
        "MATCH (v:Ring {id: 1})-[few]-(:Ring) SET v.run = 'x', few.run = 'x', few.id = 1 "
        "WITH DISTINCT v CREATE (run:PCohesionRun {id: 'r', version: 1}), (:PCohesionRequest {id: 8, token: 't'}), "
        "(:PCohesionRequest {id: 7, status: 'complete'})-[:PRODUCED {version: 1}]->(run), "
        "(:PCohesion {run: 'r', from: 5})<-[:IN_COHESION]-(v), "
        "(:PCohesionRetired {run: 'r', from: 5, until: 6})<-[:IN_COHESION]-(v)"
    )
    names = {"Person": ["Ring"], "id": "id"}
    statement = load_statement(name)
    text = statement.render({each.name: names[each.name] for each in statement.names})
    done: list[Any] = []
    with held(db, change) as opened:
        waiting_for_it = threading.Thread(target=lambda: done.append(db.run(text, **parameters)))
        waiting_for_it.start()
        wait_until(
            lambda: db.run("SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status"), "a wait"
        )
        opened[0].commit()
        waiting_for_it.join(at_pace(LIMIT))
    assert done, "it still waits"
    ((stayed,),) = db.run(stays)
    assert stayed


def test_a_key_that_somebody_changes_while_annotate_waits_keeps_its_new_value(db: Database) -> None:
    failed: list[Exception] = []

    def annotating() -> None:
        try:
            write(db)
        except PcneoError as error:  # the graph has changed, and is then searched again
            failed.append(error)

    with held(db, "MATCH (v:Ring {id: 1}) SET v.id = 1001") as opened:
        work = threading.Thread(target=annotating)
        work.start()
        wait_until(
            lambda: db.run("SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status"), "a wait"
        )
        opened[0].commit()
        work.join(at_pace(4 * LIMIT))
    assert db.run("MATCH (v:Ring) WHERE v.id IN [1, 1001] RETURN v.id") == [[1001]]
    assert write(db).run
    nothing_wrong(db)


def test_annotate_gives_up_and_a_run_of_another_graph_does_not_wait(db: Database) -> None:
    write(db, graph="other", p="1/2")  # a server that has just started takes seconds for each new statement
    with held(db, VERTEX):
        message = given_up(db, lambda: write(db))
        assert "was given up after 10 seconds" in message
        assert write(db, graph="other").added == RING
    assert write(db).added == RING
    nothing_wrong(db)


def test_an_update_gives_up_what_it_cannot_delete_and_what_it_has_written_is_swept(db: Database, soon: None) -> None:
    write(db)
    db.run("MATCH (:Ring {id: 5})-[r:KNOWS]->() DELETE r")
    with held(db, VERTEX):
        given_up(db, lambda: write(db))
        assert db.versions()["ring@2/3"] == 1
    assert write(db).version == 2
    with held(db, VERTEX):
        given_up(db, lambda: cleaning.clean(db.store, run="ring@2/3"))
    cleaning.clean(db.store)
    assert db.all_hubs() == 0
    nothing_wrong(db)


def test_uninstall_gives_up_an_index_that_it_cannot_drop_and_drops_it_later(db: Database, soon: None) -> None:
    """Unlike one that makes an index, a statement that drops one is called blocked by the server while it waits."""
    write(db)
    with held(db, "CREATE (:PCohesionRun {id: 'mine'})"):
        given_up(db, lambda: cleaning.uninstall(db.store))
    _, left = cleaning.uninstall(db.store)
    assert (left.schema, left.runs) == ((), 0)


def test_runs_of_an_earlier_format_are_not_waited_for_without_end(db: Database, soon: None) -> None:
    db.run("CREATE (:PCohesionRun {id: 'earlier', graph: 'ring'})")
    db.run("MATCH (v:Ring) CREATE (v)-[:HAS_COHESION]->(c:PCohesion {run: 'earlier'})<-[:IN_COHESION]-(v)")
    with held(db, VERTEX):
        given_up(db, lambda: cleaning.clean(db.store))
    assert cleaning.clean(db.store).earlier_runs == 1
    assert db.all_hubs() == 0


def test_a_relationship_that_somebody_has_written_is_waited_for_as_visibly(db: Database, soon: None) -> None:
    with held(db, "MATCH (:Ring {id: 1})-[r:KNOWS]-() SET r.y = 1"):
        given_up(db, lambda: write(db))
    assert write(db).added == RING


def test_vertices_that_nobody_holds_are_annotated_meanwhile(db: Database) -> None:
    db.put([(100, 101), (101, 102), (102, 100)], label="Ring")
    with held(db, VERTEX):
        began = time.monotonic()
        assert write(db, vertices=[100]).added == 1
        assert time.monotonic() - began < at_pace(5)
    nothing_wrong(db)


def test_holding_vertices_changes_nothing(db: Database) -> None:
    db.run("MATCH (v:Ring {id: 1})-[r]-() SET r.id = 'theirs', r.run = 'theirs', v.run = 'theirs'")
    before = db.users_own()
    with held(db, "MATCH (v:Other {id: 3}) SET v.y = 1"):
        write(db)
        db.run("MATCH (:Ring {id: 5})-[r:KNOWS]->() SET r.other = 1 REMOVE r.other")
        cleaning.clean(db.store)
    assert db.users_own() == before


def test_load_gives_up_and_loads_the_rest_later(db: Database, tmp_path: Path, soon: None) -> None:
    file = tmp_path / "some.edges"
    file.write_text("1 5\n1 7\n100 101\n")
    db.drop_index("Ring")
    names: Any = {"node_label": "Ring", "relationship_type": "TIES", "key": "id"}
    with held(db, VERTEX):  # whom the constraint waits for, while the server says that it runs
        given_up(db, lambda: loading.load(db.store, file, **names))
    loading.load(db.store, file, **names)
    db.run("MATCH (:Ring)-[r:TIES]-() DELETE r")
    with held(db, VERTEX):
        given_up(db, lambda: loading.load(db.store, file, **names))
    assert loading.load(db.store, file, **names).relationships_created == 3


def test_the_holder_of_the_graphs_own_node_is_named(db: Database) -> None:
    with held(db, "MATCH (g:PCohesionGraph {name: 'ring'}) SET g.held = true"):
        message = given_up(db, lambda: write(db))
        assert "An open transaction holds graph 'ring'" in message
        given_up(db, lambda: budget.set_total(db.store, graph="ring", epsilon=3))
    with GraphLock(db.store, "ring"), pytest.raises(BusyError) as caught, lock_patience(1.0):
        write(db)
    assert "Another pcneo is writing graph 'ring' (user 'neo4j' at" in str(caught.value)


# --- Signals


@contextmanager
def command(server: Server, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "pcneo", *arguments],
        env={**os.environ, **server.environment},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for_a_blocked_transaction(db: Database) -> None:
    wait_until(
        lambda: db.run("SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN 1"), "a wait", 120
    )


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_wait_at_once(db: Database, server: Server, number: signal.Signals) -> None:
    with held(db, VERTEX), command(server, "annotate", *NAMED) as process:
        wait_for_a_blocked_transaction(db)
        process.send_signal(number)
        began = time.monotonic()
        assert process.wait(60) == 128 + number
        assert time.monotonic() - began < at_pace(8)
        assert not db.run("SHOW TRANSACTIONS YIELD metaData WHERE metaData.pcneo IS NOT NULL RETURN metaData")
    assert write(db).added == RING
    nothing_wrong(db)


@pytest.mark.long
def test_after_a_kill_the_graph_is_free_for_what_needs_other_vertices(db: Database, server: Server) -> None:
    db.put([(100, 101), (101, 102), (102, 100)], label="Ring")
    with held(db, VERTEX), command(server, "annotate", *NAMED, "--vertex", "3") as process:
        wait_for_a_blocked_transaction(db)
        process.kill()
        process.wait()
        began = time.monotonic()
        assert write(db, vertices=[100]).added == 1
        assert time.monotonic() - began < at_pace(LIMIT)
    assert write(db).added == RING + 3
    nothing_wrong(db)


# --- Commits that wait, which happens where the lock is taken just before them, or is not to be seen


@pytest.fixture
def unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody sees that others have transactions open, so that no vertex is locked before a commit."""
    monkeypatch.setattr(waiting.Watch, "sees_strangers", lambda watch: False)


def wait_for_a_commit_that_waits(db: Database) -> None:
    wait_until(lambda: db.run("SHOW TRANSACTIONS YIELD status WHERE status = 'Closing' RETURN 1"), "a commit", 120)


def test_a_commit_that_waits_is_left_alone_and_what_it_writes_is_swept(db: Database, unseen: None, soon: None) -> None:
    with held(db, VERTEX) as (user,):
        began = time.monotonic()
        with pytest.raises(BusyError, match=r"A commit is waiting .* Open: user 'neo4j' at"):
            write(db)
        assert time.monotonic() - began < at_pace(LIMIT)
        with pytest.raises(BusyError), lock_patience(1.0):
            write(db, vertices=[5])
        user.rollback()
    assert write(db).added == RING
    nothing_wrong(db)


def test_a_commit_of_load_that_waits_is_left_alone_and_loading_again_adds_what_is_missing(
    db: Database, tmp_path: Path, unseen: None, soon: None, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "some.edges"
    file.write_text("1 5\n1 7\n100 101\n")
    db.drop_index("Ring")
    names: Any = {"node_label": "Ring", "relationship_type": "TIES", "key": "id"}
    GraphLoader(db.store, "Ring", "TIES", "id").ensure_vertex_key()
    with held(db, "MATCH (:Ring {id: 1})-[r:KNOWS]-() SET r.y = 1") as (user,):
        with pytest.raises(BusyError, match=r"A commit is waiting .* Open: user 'neo4j' at"):
            loading.load(db.store, file, **names)
        assert "A commit has taken" in caplog.text
        with pytest.raises(BusyError), lock_patience(1.0):
            loading.load(db.store, file, **names)
        user.rollback()
    loading.load(db.store, file, **names)
    pairs = "MATCH (a:Ring)-[:TIES]->(b:Ring) RETURN a.id, b.id ORDER BY a.id, b.id"
    assert db.run(pairs) == [[1, 5], [1, 7], [100, 101]]


def test_a_signal_is_heeded_while_a_commit_waits(db: Database, unseen: None) -> None:
    def interrupt() -> None:
        wait_for_a_commit_that_waits(db)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    sent: list[float] = []
    interrupting = threading.Thread(target=interrupt)
    with held(db, VERTEX):
        interrupting.start()
        with pytest.raises(KeyboardInterrupt):
            write(db)
        assert time.monotonic() - sent[0] < at_pace(LIMIT)
        interrupting.join()
    assert write(db).added == RING
    nothing_wrong(db)


def test_a_cancel_is_heeded_while_a_commit_waits(db: Database, server: Server, unseen: None) -> None:
    with held(db, VERTEX), serving(server, db.name):
        request = ask(db, command="annotate", graph="ring", p="2/3")
        wait_for_a_commit_that_waits(db)
        db.run("MATCH (q:PCohesionRequest {id: $id}) SET q.cancel = true", id=request)
        began = time.monotonic()
        assert answer(db, request, 60)["status"] == "cancelled"
        assert time.monotonic() - began < at_pace(LIMIT)
    assert write(db).added == RING
    nothing_wrong(db)


# --- The service


def test_a_service_gives_back_what_somebody_holds_and_answers_the_others(db: Database, server: Server) -> None:
    with held(db, VERTEX) as (user,), serving(server, db.name):
        name = blocker(db)
        waits = ask(db, command="annotate", graph="ring", p="2/3")
        others = [ask(db, command="annotate", graph="other", p="2/3", vertices=[v]) for v in range(2)]
        assert all(answer(db, request, at_pace(LIMIT))["status"] == "complete" for request in others)
        wait_until(lambda: name in (look(db, waits).get("message") or ""), "a return", 60)
        user.rollback()
        answered = answer(db, waits)
    assert (answered["status"], answered["attempts"]) == ("complete", 1)
    nothing_wrong(db)


def test_a_cancel_is_heeded_while_somebodys_lock_is_waited_for(db: Database, server: Server) -> None:
    with held(db, VERTEX), serving(server, db.name):
        request = ask(db, command="annotate", graph="ring", p="2/3")
        wait_for_a_blocked_transaction(db)
        db.run("MATCH (q:PCohesionRequest {id: $id}) SET q.cancel = true", id=request)
        began = time.monotonic()
        assert answer(db, request, 60)["status"] == "cancelled"
        assert time.monotonic() - began < at_pace(6)


def test_a_lock_on_a_request_in_its_last_transaction_is_not_waited_for_without_end(
    db: Database, server: Server
) -> None:
    with serving(server, db.name), held(db, VERTEX) as (vertex,):
        request = ask(db, command="annotate", graph="ring", p="2/3")
        wait_for_a_blocked_transaction(db)  # so that it cannot be done before its request is held
        with held(db, f"MATCH (q:PCohesionRequest {{id: '{request}'}}) SET q.by = 'me'"):
            vertex.close()
            assert answer(db, ask(db, command="annotate", graph="other", p="2/3"), 120)["status"] == "complete"
        db.run(
            "MATCH (q:PCohesionRequest {status: 'running'}) SET q.leaseUntil = datetime() - duration('PT1S')"
        )  # as half a minute later
        assert answer(db, request)["status"] == "complete"
    nothing_wrong(db)


@pytest.mark.long
def test_a_service_that_waits_for_somebodys_lock_heeds_sigterm(db: Database, server: Server) -> None:
    with held(db, VERTEX), service_processes(server, 1, *configured(grace=1)) as (service,):
        request = ask(db, command="annotate", graph="ring", p="2/3")
        wait_for_a_blocked_transaction(db)
        service.send(signal.SIGTERM)
        began = time.monotonic()
        assert service.process.wait(120) == 0
        assert time.monotonic() - began < at_pace(8)
        assert look(db, request)["status"] == "requested"


@pytest.mark.parametrize(
    "properties",
    [
        "status: 'complete', finishedAt: datetime() - duration('P9D')",
        "status: 'requested', requestedAt: datetime() + duration('PT1H')",
    ],
    ids=["an old answer", "one too many"],
)
def test_a_lock_on_what_is_to_be_tidied_stops_no_service(db: Database, server: Server, properties: str) -> None:
    db.run(f"CREATE (:PCohesionRequest {{id: 'held', command: 'check', graph: 'unknown', {properties}}})")
    with (
        held(db, "MATCH (q:PCohesionRequest {id: 'held'}) SET q.by = 'me'"),
        serving(server, db.name, max_waiting=1),
    ):
        for _ in range(2):
            request = ask(db, command="annotate", graph="ring", p="2/3")
            assert answer(db, request, at_pace(LIMIT))["status"] == "complete"


@pytest.mark.parametrize("way", ["blocking", "asynchronous"])
def test_a_request_that_somebody_holds_is_not_waited_for_without_end(
    db: Database, server: Server, monkeypatch: pytest.MonkeyPatch, soon: None, way: str
) -> None:
    def place() -> None:
        placing.ask(db.store, graph="ring", request="held")

    async def place_soon() -> None:
        async with neo4j.AsyncGraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
            adb = await aio.connect(driver=driver, database=db.name)
            await adb.graph("ring").ask(request="held")

    monkeypatch.setattr(sessions, "BLOCKED_SECONDS", 2.0)
    with held(db, "CREATE (:PCohesionRequest {id: 'held'})"), pytest.raises(BusyError):
        place() if way == "blocking" else asyncio.run(place_soon())


# --- Many at once


@contextmanager
def blocked_seconds(db: Database) -> Iterator[dict[str, float]]:
    """How long each transaction of pcneo's was seen blocked without a break, the longest time of each."""
    longest: dict[str, float] = {}
    over = threading.Event()

    def look_on() -> None:
        since: dict[str, float] = {}
        while not over.wait(0.3):
            rows = db.run(
                "SHOW TRANSACTIONS YIELD transactionId, metaData, status "
                "WHERE metaData.pcneo IS NOT NULL AND status STARTS WITH 'Blocked' RETURN transactionId"
            )
            now = time.monotonic()
            since = {name: since.get(name, now) for (name,) in rows}
            longest.update({name: max(now - began, longest.get(name, 0)) for name, began in since.items()})

    looking = threading.Thread(target=look_on)
    looking.start()
    try:
        yield longest
    finally:
        over.set()
        looking.join()


def heeds_a_signal(server: Server, number: signal.Signals) -> None:
    """A command and a service end soon after a signal, whatever they wait for just then."""
    named = ("--graph", "friends", "--node-label", "Person", "--relationship-type", "KNOWS", "--key", "id", "-p", "1/2")
    with command(server, "annotate", *named) as process:
        time.sleep(6.0)
        process.send_signal(number)
        began = time.monotonic()
        assert process.wait(60) in (128 + number, 6, 0)  # busy or done, where it has been faster
        assert time.monotonic() - began < at_pace(8)
    if number == signal.SIGTERM:
        with service_processes(server, 1, *configured(grace=1)) as (service,):
            time.sleep(3.0)
            service.send(number)
            began = time.monotonic()
            assert service.process.wait(120) == 0
            assert time.monotonic() - began < at_pace(8)


def test_open_transactions_at_random_beside_a_writer_and_a_service(db: Database, server: Server) -> None:
    """Twenty users, one vertex each; what is answered is right, and every wait ends in time."""
    size = 40
    edges = [(a, b) for a in range(size) for b in range(a) if random.Random(f"{a} {b}").random() < 0.06]
    db.put(edges, isolated=range(size), label="Person")
    write(db, "friends", vertices=[0])  # a graph without a run would be forgotten with a writer's failure
    write(db, "other", vertices=[0])
    chance, over = random.Random(20261124), threading.Event()
    seconds = usual_or_thorough(20.0, 240.0)
    waits: list[tuple[float, str]] = []
    troubles: list[str] = []

    def user(number: int) -> None:
        mine = random.Random(number)
        while not over.is_set():
            with held(db, f"MATCH (v:Person {{id: {mine.randrange(size)}}}) SET v.y = {number}"):
                over.wait(mine.choice([0.1, 1.0, 5.0, 20.0]))

    def writer() -> None:
        while not over.is_set():
            began = time.monotonic()
            try:
                write(db, graph="friends", p="1/2", vertices=chance.sample(range(size), 3))
            except BusyError as error:
                waits.append((time.monotonic() - began, str(error)))
            began = time.monotonic()
            try:
                write(db, graph="other", p="2/3", vertices=[chance.randrange(RING)])
            except BusyError as error:  # the service writes it
                if "Another pcneo is writing" not in str(error):
                    troubles.append(str(error))
            if time.monotonic() - began > at_pace(LIMIT):
                troubles.append("another graph has waited")
            time.sleep(0.5)

    threads = [threading.Thread(target=user, args=(number,)) for number in range(20)]
    with blocked_seconds(db) as blocked, serving(server, db.name):
        for thread in (*threads, work := threading.Thread(target=writer)):
            thread.start()
        until, answered = time.monotonic() + seconds, 0
        while time.monotonic() < until:
            ask(db, command="annotate", graph="friends", p="1/2", vertices=[chance.randrange(size)])
            free = ask(db, command="annotate", graph="other", p="1/2", vertices=[chance.randrange(RING)])
            alone = ask(db, command="check", graph="other")
            if answer(db, alone, at_pace(4 * LIMIT))["status"] == "complete":
                answered += answer(db, free, at_pace(4 * LIMIT))["status"] == "complete"
        for number in usual_or_thorough([], [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]):
            heeds_a_signal(server, number)
        over.set()
        for thread in (*threads, work):
            thread.join(120)
        assert answered > 0
        wait_until(
            lambda: db.run("MATCH (q:PCohesionRequest) WHERE q.finishedAt IS NULL RETURN count(q)") == [[0]],
            "an answer to each",
        )
    assert max(blocked.values(), default=0) < at_pace(LIMIT), blocked
    assert troubles == []
    # Two waits can follow one another: five seconds for the service to give the graph back, and then somebody's lock.
    assert all(took < at_pace(LIMIT + 5) for took, _ in waits), waits
    named = [message for _, message in waits if "Another pcneo is writing" not in message]
    assert all("user 'neo4j' at" in message for message in named), named
    assert db.run("MATCH (q:PCohesionRequest) WHERE q.status <> 'complete' RETURN q.message") == []
    nothing_wrong(db)
