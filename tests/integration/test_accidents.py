"""What people and networks do between two commands: delete a vertex, lose an answer, watch a stream on a terminal."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import neo4j
import pytest
from graphs import Database, own_text
from services import wait_until

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.errors import ConnectionFailedError, KeyPropertyError
from pcneo.store.sessions import open_session
from pcneo.store.standing import Keeping, open_graph
from pcneo.store.transaction import Transaction, begun, in_one_trip, in_transaction, rows_of
from pcneo.stored import runs

PERSONS: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}


@pytest.fixture(name="db")
def triangle_with_a_tail(db: Database) -> Database:
    db.put([(1, 2), (2, 3), (1, 3), (3, 4), (4, 5)])
    return db


def _watch(terminal: int) -> None:
    """Read what a terminal shows, as a terminal does, until its other end is closed."""
    with contextlib.suppress(OSError):
        while os.read(terminal, 4096):
            pass
    os.close(terminal)


def test_rows_of_a_stream_go_to_standard_output_while_a_terminal_watches_the_progress(
    db: Database, server: Any, tmp_path: Path
) -> None:
    rows, (watcher, terminal) = tmp_path / "rows.csv", pty.openpty()
    threading.Thread(target=_watch, args=(watcher,), daemon=True).start()
    with rows.open("w") as out:
        command = [sys.executable, "-m", "pcneo", "annotate", "-p", "0.5", "--mode", "stream"]
        environment = {**os.environ, **server.environment}
        subprocess.run(command, stdout=out, stderr=terminal, env=environment, check=True, timeout=240)
    os.close(terminal)
    assert [line.split(",")[0] for line in rows.read_text().splitlines()] == ["vertex", "1", "2", "3", "4", "5"]


def test_a_deleted_vertex_is_seen_by_verify_and_stands_in_nobodys_way(db: Database) -> None:
    annotate.write(db.store, p="0.5", **PERSONS)
    annotate.write(db.store, p="0.5", vertices=[1, 4], **PERSONS)
    db.run("MATCH (v:Person {id: 1}) DETACH DELETE v")
    verifications = db.verified()
    assert [
        (verification.run.scope, verification.graph_same, verification.memberships_same)
        for verification in verifications
    ] == [
        ("graph", False, False),
        ("vertices", None, False),
    ]
    annotate.write(db.store, p="0.5", vertices=[4], **PERSONS)
    (latest,) = [run for run in runs.list_runs(db.store) if run.run.scope == "vertices"]
    assert latest.run.memberships == len(db.members(latest.run.id)[4])


def test_an_answer_lost_after_the_last_commit_leaves_the_new_run_visible(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    annotate.write(db.store, p="0.5", **PERSONS)
    commit = Transaction.commit

    def lose_the_answer(self: Transaction) -> None:
        commit(self)
        raise ConnectionFailedError("the answer is lost")

    db.run("MATCH (:Person {id: 1})-[r:KNOWS]-() WITH r LIMIT 1 DELETE r")
    with monkeypatch.context() as patch:
        patch.setattr(Transaction, "commit", lose_the_answer)
        with pytest.raises(ConnectionFailedError):
            annotate.write(db.store, p="0.5", **PERSONS)
    assert list(db.versions().values()) == [2]
    (complete,) = [run for run, version in db.versions().items() if version]
    assert set(db.members(complete)) == {1, 2, 3, 4, 5}
    annotate.write(db.store, p="0.5", **PERSONS)
    assert list(db.versions().values()) == [2]
    assert len(db.hubs()) == 1


def test_a_name_used_for_a_graph_that_was_refused_is_free_again(db: Database) -> None:
    db.run("CREATE (:Person {id: 'text'})")
    with pytest.raises(KeyPropertyError):
        annotate.write(db.store, p="0.5", graph="mine", **PERSONS)
    assert db.run("MATCH (g:PCohesionGraph) RETURN count(g)") == [[0]]


def test_a_float_that_equals_the_key_asked_for_is_refused(db: Database) -> None:
    db.run("CREATE (:Person {id: 7.0})")
    with pytest.raises(KeyPropertyError):
        list(annotate.stream(db.store, p="0.5", vertices=[7], **PERSONS))


def test_schema_that_is_there_is_not_asked_for_again(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    annotate.write(db.store, p="0.5", **PERSONS)
    before = db.run("SHOW INDEXES YIELD name, lastRead RETURN count(*)")
    sent: list[str] = []
    run = neo4j.Transaction.run
    monkeypatch.setattr(
        neo4j.Transaction, "run", lambda self, text, *rest: (sent.append(text), run(self, text, *rest))[1]
    )
    annotate.write(db.store, p="0.5", **PERSONS)
    assert sent
    assert not any("CREATE CONSTRAINT" in text or "CREATE INDEX" in text for text in sent)
    assert db.run("SHOW INDEXES YIELD name, lastRead RETURN count(*)") == before


LONG = own_text("UNWIND range(1, 30000) AS a UNWIND range(1, 100000) AS b RETURN count(*) AS c")
"""Some minutes of the server's."""

LEAST_READS = 5
"""From a server, for one answer: a length and a message each."""


@pytest.mark.parametrize("how", ["in one trip", "in a transaction"])
def test_an_interrupted_statement_is_neither_waited_for_nor_left_to_run(db: Database, how: str) -> None:
    store = db.store
    run = in_one_trip if how == "in one trip" else lambda session, *rest: in_transaction(session, rows_of, *rest)
    threading.Timer(2, os.kill, [os.getpid(), signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt), store.session(neo4j.READ_ACCESS) as session:
        run(session, LONG, {})
    running = "SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery STARTS WITH 'UNWIND range' RETURN currentQuery"
    wait_until(lambda: not db.run(running), "the end of the statement", patience=30)
    assert store.list_labels() == ["Person"]


@pytest.mark.parametrize("how", ["in one trip", "in a transaction"])
def test_an_interruption_at_any_read_is_not_lost_in_the_drivers_error_about_half_an_answer(
    how: str, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a `finally` of its own the driver reads on, which fails while a traceback holds a view of its buffer."""
    store, read = db.store, socket.socket.recv_into
    run = in_one_trip if how == "in one trip" else lambda session, *rest: in_transaction(session, rows_of, *rest)
    reads = interrupted_at = 0

    def interrupted(connection: socket.socket, buffer: memoryview, n_bytes: int) -> int:
        nonlocal reads
        reads += 1
        if reads == interrupted_at:
            raise SystemExit(143)
        return read(connection, buffer, n_bytes)

    def ask() -> None:
        with store.session(neo4j.READ_ACCESS) as session:
            run(session, own_text("RETURN 'an answer' AS answer"), {})

    is_over = False
    while not is_over:
        reads, interrupted_at = 0, interrupted_at + 1
        with monkeypatch.context() as patched, contextlib.suppress(SystemExit):
            patched.setattr(socket.socket, "recv_into", interrupted)
            ask()
            is_over = True
            assert reads < interrupted_at
        assert store.list_labels() == ["Person"]
    assert interrupted_at > LEAST_READS


def test_an_interruption_is_not_lost_in_an_error_for_which_a_statement_is_repeated(db: Database) -> None:
    tried: list[neo4j.Transaction] = []

    def interrupted(opened: neo4j.Transaction) -> None:
        tried.append(opened)
        try:
            raise SystemExit(143)
        finally:
            raise neo4j.exceptions.ServiceUnavailable  # as the driver does where it tidies up a connection that broke

    def ask() -> None:
        with db.store.session(neo4j.READ_ACCESS) as session:
            in_transaction(session, interrupted)

    with pytest.raises(SystemExit, match="143"):
        ask()
    assert len(tried) == 1


def test_an_error_while_an_interruption_is_cleaned_up_after_stays_what_it_is(db: Database) -> None:
    def ask() -> None:
        with db.store.session(neo4j.READ_ACCESS):
            raise ZeroDivisionError

    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        with pytest.raises(ZeroDivisionError):
            ask()


def test_a_run_that_is_removed_before_its_versions_are_trimmed_is_nobodys_error(db: Database) -> None:
    annotate.write(db.store, p="0.5", graph="friends", **PERSONS)
    store = db.store
    (record,) = store.list_graphs()
    with open_graph(store, record) as opened:
        opened.trim("friends@1/2, removed", Keeping(), lambda *_: ())
    assert [stored.run.id for stored in runs.list_runs(db.store)] == ["friends@1/2"]


def test_what_another_thread_does_on_a_connection_outlives_the_statement_that_failed_on_it(
    db: Database, server: Any
) -> None:
    """The driver gives a connection back as soon as a statement in a transaction has failed."""
    with (
        neo4j.GraphDatabase.driver(
            server.uri, auth=(server.username, server.password), max_connection_pool_size=1
        ) as driver,
        driver.session(database=db.name) as other,
    ):

        def fail() -> None:
            with open_session(driver, db.name, "WRITE") as session, begun(session) as opened:
                try:
                    opened.run("RETURN 1 / 0 AS x").consume()
                except neo4j.exceptions.ClientError:
                    theirs.append(other.begin_transaction())
                    theirs[0].run("CREATE (:Person {id: 99})").consume()
                    raise

        theirs: list[neo4j.Transaction] = []
        with pytest.raises(neo4j.exceptions.ClientError, match="/ by zero"):
            fail()
        theirs[0].commit()
    assert db.run("MATCH (v:Person {id: 99}) RETURN count(v)") == [[1]]
