"""Writers that are killed, collide, lose the lock or fail half-way; and what `clean` removes."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import neo4j
import pytest
from campaign.ground import at_pace
from graphs import Database, cycle
from places import ROOT

from pcneo import annotate
from pcneo.annotate import Keeping, row_writing
from pcneo.annotate.plan import make_plan
from pcneo.annotate.writing import Client, update_runs
from pcneo.basics.searches import Search
from pcneo.basics.selection import Selection
from pcneo.errors import BusyError, DatabaseError, NotFoundError, ParameterError, WriteMismatchError
from pcneo.server import configuration, servers
from pcneo.store import hub_writer, lock
from pcneo.store.hub_writer import CohesionRow
from pcneo.store.lock import GraphLock
from pcneo.store.standing import open_graph
from pcneo.store.transaction import Transaction, in_transaction
from pcneo.stored import cleaning, runs

PERSONS: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
NAME = "Person/KNOWS/id"
RUN = f"{NAME}@3/5"

WRITER = """
import os, sys, time
from pcneo import Selection, annotate
from pcneo.store.connection import connect
from pcneo.annotate import row_writing as writer

writer.MEMBERSHIPS_A_TRANSACTION = 2_000

def progress(stage, done, total):
    if stage.startswith("writing"):
        print(done, flush=True)
        time.sleep(600)

with connect(database=sys.argv[1]) as db:
    annotate.write(db, p=0.6, selection=Selection("Person", "KNOWS", "id"), progress=progress)
"""

HOLDER = """
import os, sys, time
from pcneo.store.connection import connect
from pcneo.store.lock import GraphLock
from pcneo.store.transaction import Transaction, in_transaction

with connect(database=sys.argv[1]) as db, GraphLock(db, "Person/KNOWS/id"):
    print("holding", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def start(server, db) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Start a program in a process of its own and return it when it has said its first line."""
    started: list[subprocess.Popen[str]] = []

    def begin(program: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", program, db.name],
            cwd=ROOT,
            env={**os.environ, **server.environment},
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline(), "the program ended before it said anything"
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def write(db: Database, p: Any = 0.6, **options) -> annotate.WriteResult:
    return annotate.write(db.store, p=p, **{**PERSONS, **options})


def once(stage: str, action: Callable[[], object]) -> Callable[[str, int, int | None], None]:
    """A progress callback that acts when a stage of that name is first told of."""
    done = []

    def progress(doing: str, *_: object) -> None:
        if doing.startswith(stage) and not done:
            done.append(doing)
            action()

    return progress


def end_locking_transactions(db: Database) -> None:
    """Do what an administrator or a server that shuts down does to the transaction that holds the lock."""
    ended = db.run(
        "SHOW TRANSACTIONS YIELD transactionId AS held, metaData "
        "WHERE metaData.pcneo IS NOT NULL AND metaData.pcneoGraph IS NULL "  # batches name their graph
        "TERMINATE TRANSACTIONS held YIELD message RETURN message"
    )
    assert ended == [["Transaction terminated."]]


def wait_for_a_blocked_transaction(db: Database) -> None:
    while not db.run("SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status"):
        time.sleep(0.05)


def untouched(db: Database, version: int = 1) -> bool:
    """Whether the one run is at this version, nobody sees anything else, and no hub waits for a version to come."""
    unseen = db.run("MATCH (c:PCohesion) WHERE c.from > $version RETURN c", version=version)
    return db.versions() == {RUN: version} and db.hubs().keys() == {RUN} and not unseen


@pytest.fixture
def old(db) -> str:
    """A run of a ring, at version 1 while others try; the graph has grown since by a ring of two hundred."""
    db.put(cycle(10))
    run = write(db).runs[0].run
    assert run == RUN
    db.put([(a + 1_000, b + 1_000) for a, b in cycle(200)])
    return run


# --- Killed


def test_a_writer_killed_in_the_middle_leaves_the_old_run_visible_and_the_next_one_sweeps(db, old, start):
    before = db.cohesions(old)
    writing = start(WRITER)
    assert runs.find_run(db.store).run.version == 1
    writing.kill()
    writing.wait()
    assert db.versions() == {RUN: 1}
    assert 0 < db.run("MATCH (c:PCohesion) WHERE c.from > 1 RETURN count(c)")[0][0] < 200
    assert db.cohesions(old) == before
    (new,) = write(db).runs
    assert (new.version, new.added, new.retired) == (2, 200, 0)
    assert untouched(db, 2)
    assert db.hubs() == {new.run: 210}
    assert new.summary.memberships == 10 * 10 + 200 * 200
    assert db.verified()[0].memberships_same


def test_the_lock_is_free_within_a_second_after_its_holder_is_killed(db, old, start):
    store = db.store
    with GraphLock(store, NAME):
        pass
    holding = start(HOLDER)
    holding.kill()
    started = time.monotonic()
    with GraphLock(store, NAME):
        assert time.monotonic() - started < at_pace(1)


# --- Two at once


def test_a_second_writer_of_the_graph_gives_up_within_seconds_and_the_first_loses_nothing(db, old):
    seconds = []

    def try_too() -> None:
        started = time.monotonic()
        with pytest.raises(BusyError, match=f"writing graph '{NAME}'.*try again") as caught:
            write(db)
        seconds.append(time.monotonic() - started)
        assert caught.value.data["graph"] == NAME
        assert db.versions() == {RUN: 1}

    (first,) = write(db, progress=once("writing", try_too)).runs
    assert seconds[0] < 15  # five of waiting, the rest is a slow machine's
    assert untouched(db, 2)
    assert db.hubs() == {first.run: 210}


def test_a_writer_that_waits_gets_its_turn_when_the_first_is_done_in_time(db, old):
    store = db.store
    held, order = GraphLock(store, NAME), []

    def wait() -> None:
        with GraphLock(store, NAME):
            order.append("second")

    waiting = threading.Thread(target=wait)
    with held:
        waiting.start()
        wait_for_a_blocked_transaction(db)
        order.append("first")
    waiting.join()
    assert order == ["first", "second"]


def test_clean_refuses_while_a_writer_holds_the_graph_and_removes_nothing(db, old, monkeypatch):
    monkeypatch.setattr(lock, "WAIT_SECONDS", 0.2)

    def clean() -> None:
        with pytest.raises(BusyError):
            cleaning.clean(db.store)
        assert db.versions() == {RUN: 1}
        assert db.hubs()[old] == 10

    write(db, progress=once("writing", clean))
    assert untouched(db, 2)


def test_another_graph_can_be_written_at_the_same_time(db, old):
    other: list[str] = []

    def write_other() -> None:
        other.append(write(db, graph="other", vertices=[1]).runs[0].run)

    (first,) = write(db, progress=once("writing", write_other)).runs
    assert db.versions() == {first.run: 2, other[0]: 1}
    assert db.hubs() == {first.run: 210, other[0]: 1}


def test_a_writer_that_lost_its_lock_never_becomes_visible(db, old, monkeypatch):
    monkeypatch.setattr(lock, "TOUCH_SECONDS", 0.05)
    before = db.cohesions(old)

    def lose() -> None:
        end_locking_transactions(db)
        time.sleep(0.5)

    with pytest.raises(DatabaseError, match=f"lock on graph '{NAME}' was lost.*Run it again"):
        write(db, progress=once("writing", lose))
    assert untouched(db)
    assert db.cohesions(old) == before


def test_nothing_is_created_once_the_lock_is_known_to_be_lost(db, old, monkeypatch):
    monkeypatch.setattr(lock, "TOUCH_SECONDS", 0.05)
    (graph,) = db.store.list_graphs()
    with open_graph(db.store, graph) as opened:
        end_locking_transactions(db)
        time.sleep(0.5)
        with pytest.raises(DatabaseError, match="was lost"):
            opened.hubs.create(0, RUN, 2, Search("0.6"), [])
    assert untouched(db)


def test_a_writer_that_lost_its_lock_takes_nothing_from_the_one_that_has_it_now(db, old):
    second: list[str] = []

    def overtake() -> None:
        end_locking_transactions(db)
        second.append(write(db).runs[0].run)

    with pytest.raises((DatabaseError, BusyError), match=r"was lost|has begun to write"):
        write(db, progress=once("writing", overtake))
    assert untouched(db, 2)
    assert db.hubs() == {second[0]: 210}
    assert db.verified()[0].memberships_same


# --- Failing half-way


def hide_and_fail(transaction: Transaction) -> None:
    transaction.run("hide_run", run=RUN)
    raise ParameterError("a step after it")


def test_what_a_failed_last_transaction_wrote_is_not_committed_by_the_next(db, old):
    store = db.store
    with GraphLock(store, NAME) as held:
        with pytest.raises(ParameterError), held.last_writes() as transaction:
            hide_and_fail(transaction)
        with pytest.raises(DatabaseError, match="earlier step"), held.last_writes():
            pytest.fail("the block of a spoiled transaction was entered")
    assert [run.id for run in store.list_runs()] == [RUN]
    with GraphLock(store, NAME) as held, held.last_writes() as transaction:
        transaction.run("hide_run", run=RUN)
    assert store.list_runs() == []  # so the first block would have shown


@pytest.mark.timeout(60)
@pytest.mark.parametrize("error", [ParameterError("no longer wanted"), KeyboardInterrupt()], ids=["refused", "Ctrl-C"])
def test_a_new_run_whose_last_transaction_fails_is_removed(db, old, error):
    """By then that transaction has written to the run, and what removes the run must not wait for it."""
    before = db.cohesions(old)
    plan = make_plan(db.store, "write", p="0.8", **PERSONS, graph=NAME, concurrency=1)

    def fail(*_: object) -> None:
        raise error

    client = Client(lambda *_: None, fail)
    with pytest.raises(type(error)):
        update_runs(plan, Keeping(), client)
    assert untouched(db)
    assert db.cohesions(old) == before
    assert [run.id for run in db.store.list_runs()] == [RUN]


def test_a_vertex_deleted_during_the_write_is_noticed_and_leaves_the_old_run(db, old):
    before = db.cohesions(old)

    def delete() -> None:
        db.run("MATCH (v:Person {id: 1100}) DETACH DELETE v")

    with pytest.raises(WriteMismatchError, match="Nothing of this version is visible") as caught:
        write(db, progress=once("searching", delete))
    counts: Any = caught.value.data
    assert counts["written"]["memberships"] < counts["sent"]["memberships"]
    assert untouched(db)
    assert db.cohesions(old) == before


def test_a_key_repeated_during_the_write_is_noticed(db, old):
    with pytest.raises(WriteMismatchError) as caught:
        write(db, progress=once("searching", lambda: db.run("CREATE (:Person {id: 1100})")))
    counts: Any = caught.value.data
    assert counts["written"]["memberships"] > counts["sent"]["memberships"]
    assert untouched(db)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, RuntimeError])
def test_a_writer_interrupted_at_the_second_p_leaves_nothing_of_the_first(db, old, interruption):
    def interrupt() -> None:
        raise interruption

    with pytest.raises(interruption):
        write(db, ["0.55", "0.6"], progress=once("writing p=3/5", interrupt))
    assert untouched(db)


def test_a_run_of_vertices_one_of_which_does_not_exist_leaves_nothing(db, old):
    with pytest.raises(NotFoundError, match="no vertex 99"):
        write(db, vertices=[1, 99])
    assert untouched(db)


def test_a_writer_sweeps_what_dead_writers_of_its_graph_left_and_nothing_else(db, old):
    db.run(
        "UNWIND [['dead', $name], ['alive', 'other']] AS row "
        "CREATE (:PCohesionRun {id: row[0], graph: row[1], version: 0, scope: 'graph', pText: '3/5', search: ''}) "
        "WITH row[0] AS run UNWIND range(1, 2500) AS i MATCH (v:Person {id: i % 10}) "
        "CREATE (v)-[:HAS_COHESION]->(:PCohesion {run: run, from: 2, until: 9007199254740991})",
        name=NAME,
    )
    db.run(
        "MATCH (v:Person {id: 1})-[:HAS_COHESION]->(c:PCohesion {run: $run}) SET c.until = 2, c:PCohesionRetired "
        "CREATE (v)-[:HAS_COHESION]->(:PCohesion {run: $run, from: 2, until: 9007199254740991})",
        run=old,
    )
    (few,) = write(db, vertices=[1]).runs
    assert db.versions() == {old: 1, few.run: 2, "alive": 0}
    assert db.hubs() == {old: 10, few.run: 1, "alive": 2_500}
    assert db.run("MATCH (c:PCohesionRetired) RETURN count(c)") == [[0]]


def check_batches_are_halved(db: Database, size: int, caplog: pytest.LogCaptureFixture) -> None:
    """Write and remove the cohesions of a ring that do not fit into the server's transaction memory."""
    db.put(cycle(size))
    caplog.set_level(logging.DEBUG, "pcneo")
    (run,) = write(db).runs
    assert "do not fit into the server's transaction memory" in caplog.text
    assert db.hubs() == {run.run: size}
    assert set(map(len, db.members(run.run).values())) == {size}
    written = caplog.text
    caplog.clear()
    assert cleaning.clean(db.store).hubs == size
    assert "do not fit into the server's transaction memory" in caplog.text
    assert db.hubs() == {}
    # Repeating what does not fit takes half a minute and never helps.
    assert "a transaction failed" not in written + caplog.text


def test_a_batch_too_large_for_the_servers_transaction_memory_is_halved_at_once(db, monkeypatch, caplog):
    """Where the server says so of more than twenty hubs; the test below has a server that does."""
    run, refused = hub_writer.rows_of, []

    def short_of_memory(transaction: neo4j.Transaction, text: Any, parameters: dict[str, Any]) -> Any:
        done = run(transaction, text, parameters)
        if max(len(parameters.get("rows", ())), parameters.get("limit", 0)) > 20:
            refused.append(parameters)
            code = "Neo.TransientError.General.MemoryPoolOutOfMemoryError"
            raise neo4j.exceptions.Neo4jError._hydrate_neo4j(code=code, message="The allocation would use too much.")
        return done

    monkeypatch.setattr(hub_writer, "rows_of", short_of_memory)
    check_batches_are_halved(db, 60, caplog)
    assert len([parameters for parameters in refused if "rows" in parameters]) == 3  # 60, and 30 twice


@pytest.mark.thorough
def test_a_server_of_little_transaction_memory_gets_halves(tmp_path, monkeypatch, caplog):
    monkeypatch.setitem(configuration.SETTINGS, "db.memory.transaction.max", "12m")
    server = servers.start(tmp_path / "data")
    try:
        with neo4j.GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
            check_batches_are_halved(Database(driver, "neo4j"), 170, caplog)
    finally:
        servers.stop(server.data)


def test_a_transaction_caught_in_a_deadlock_is_done_again(db):
    db.put([(1, 2)])
    touch = "MATCH (v:Person {id: $id}) SET v.by = $who"
    attempts = []
    with db.driver.session(database=db.name) as theirs, db.driver.session(database=db.name) as ours:
        other = theirs.begin_transaction()
        other.run(touch, id=1, who="theirs").consume()

        def rest_of_theirs() -> None:
            other.run(touch, id=2, who="theirs").consume()
            other.commit()

        waiting = threading.Thread(target=rest_of_theirs)

        def work(transaction: neo4j.Transaction) -> None:
            attempts.append(1)
            transaction.run(touch, id=2, who="ours").consume()
            if len(attempts) == 1:
                waiting.start()
                wait_for_a_blocked_transaction(db)
            transaction.run(touch, id=1, who="ours").consume()

        in_transaction(ours, work)
        waiting.join()
    assert len(attempts) == 2
    assert db.run("MATCH (v:Person) RETURN v.by") == [["ours"], ["ours"]]


# --- Clean


@pytest.fixture
def stored(db) -> dict[str, str]:
    """A run of each kind, and what outlives every run: the ledger, as a release leaves it."""
    db.put(cycle(10))
    state = {
        "graph": write(db).runs[0].run,
        "degree": write(db, search="degree").runs[0].run,
        "vertices": write(db, vertices=[3]).runs[0].run,
        "other": write(db, graph="other").runs[0].run,
    }
    db.run(
        "CREATE (:PCohesionBudget {graph: $name, epsilon: '1/1', delta: '0/1', who: 'ada', at: datetime()}), "
        "(:PCohesionRelease {id: 'r1', graph: $name, run: $run, mechanism: 'critical', k: 3, p: '3/5', "
        "search: 'density', epsilon: '1/2', delta: '0/1', membershipHash: 'x', who: 'ada', version: '0', "
        "at: datetime()})",
        name=NAME,
        run=state["graph"],
    )
    return state


def kept(db: Database) -> list:
    """All but runs and hubs; the time of the last lock is no data."""
    return [
        db.users_own(),
        db.run("MATCH (g:PCohesionGraph) RETURN g {.*, lockedAt: null} ORDER BY g.name"),
        db.run("MATCH (n:PCohesionRelease|PCohesionBudget) RETURN labels(n), properties(n) ORDER BY elementId(n)"),
    ]


def test_clean_of_one_run_removes_its_record_hubs_and_memberships_and_nothing_else(db, stored):
    before = kept(db)
    for name, hubs in (("graph", 10), ("vertices", 1)):
        result = cleaning.clean(db.store, run=stored[name])
        assert (result.runs, result.hubs) == ((stored[name],), hubs)
    assert db.versions() == {stored["degree"]: 2, stored["other"]: 1}
    assert db.hubs() == {stored["degree"]: 10, stored["other"]: 10}
    assert kept(db) == before


def test_clean_of_all_removes_every_run_and_keeps_graphs_budgets_and_releases(db, stored):
    before = kept(db)
    events = []
    db.run("UNWIND ['complete', 'failed', 'requested'] AS status CREATE (:PCohesionRequest {status: status})")
    result = cleaning.clean(db.store, progress=lambda *event: events.append(event))
    assert (set(result.runs), result.hubs, result.answered_requests) == (set(stored.values()), 31, 2)
    db.run("MATCH (waiting:PCohesionRequest) DELETE waiting")
    assert events
    assert db.run("MATCH (n:PCohesion|PCohesionRun|PCohesionVersion) RETURN count(n)") == [[0]]
    assert db.run("MATCH ()-[r:HAS_COHESION|IN_COHESION]->() RETURN count(r)") == [[0]]
    assert kept(db) == before
    assert cleaning.clean(db.store).runs == ()


def test_clean_of_a_run_that_does_not_exist_is_refused(db, stored):
    with pytest.raises(NotFoundError, match="no run 'nonsense'"):
        cleaning.clean(db.store, run="nonsense")
    assert set(db.versions()) == set(stored.values())


def test_the_fingerprint_key_outlives_the_runs(db, stored):
    (before,) = (stored.run.fingerprint for stored in runs.list_runs(db.store) if stored.run.graph == "other")
    cleaning.clean(db.store)
    write(db, graph="other")
    assert runs.list_runs(db.store)[0].run.fingerprint == before


def test_transactions_hold_about_as_many_memberships_as_are_wanted():
    rows: list[CohesionRow] = [
        {
            "vertex": v,
            "size": size,
            "edges": 0,
            "density": 0.0,
            "proven": False,
            "best": False,
            "owner": 0,
            "digest": "",
            "members": [],
        }
        for v, size in enumerate([4, 4, 4, 25, 1, 9, 3])
    ]
    groups = list(row_writing.transactions_of(rows, 10))
    assert [[row["size"] for row in group] for group in groups] == [[4, 4, 4], [25], [1, 9], [3]]
