"""Batches that were under way when a writer lost the graph's lock: none lands among what the next writer writes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import neo4j
import pytest
from graphs import Database, cycle
from lengths import usual_or_thorough

from pcneo import annotate
from pcneo.annotate.updating import Update
from pcneo.basics.searches import Search
from pcneo.basics.selection import Selection
from pcneo.errors import BusyError, PcneoError
from pcneo.store import fence as fence_module
from pcneo.store import hub_writer, lock
from pcneo.store.fence import Fence
from pcneo.store.hub_writer import HubWriter
from pcneo.store.standing import open_graph
from pcneo.stored import runs

PERSONS: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
GRAPH = "Person/KNOWS/id"
RUN = f"{GRAPH}@3/5"
MAXIMUM = 2**53 - 1


def write(db: Database) -> annotate.UpdatedRun:
    return annotate.write(db.store, p="0.6", **PERSONS).runs[0]


def create(hubs: HubWriter) -> object:
    members = [10, 11]
    numbers: Any = {"size": 2, "edges": 1, "density": 1.0, "proven": False, "best": False}
    row: Any = {"vertex": 10, **numbers, "owner": 0, "digest": "", "members": members}
    return hubs.create(1, RUN, 2, Search("0.6"), [row])


BATCHES: dict[str, Callable[[HubWriter], object]] = {
    "create": create,
    "retire": lambda hubs: hubs.retire(RUN, 1, [0, 1, 2], 2),
    "retire strays": lambda hubs: hubs.retire_strays(RUN, 1, 2),
    "undo": lambda hubs: hubs.undo(RUN, 1),
    "delete": lambda hubs: hubs.delete_between(RUN, 0, MAXIMUM),
}


@pytest.fixture
def late(db: Database) -> HubWriter:
    """The writer of hubs of somebody who has the fences, and is about to lose them; a stray hub waits to be retired."""
    db.put(cycle(10))
    write(db)
    fence = Fence(db.store, GRAPH)
    fence.take()
    db.put([], isolated=[10, 11])
    return HubWriter(fence, runs.list_runs(db.store)[0].selection)


@pytest.mark.parametrize("kind", BATCHES)
def test_a_batch_that_begins_after_the_next_writer_is_done_does_nothing(
    db: Database, late: HubWriter, kind: str
) -> None:
    assert write(db).version == 2
    left = db.everything()
    with pytest.raises(BusyError, match="Another writer has begun to write"):
        BATCHES[kind](late)
    assert db.everything() == left


def test_a_version_is_not_published_behind_fences_that_somebody_has_taken(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has lost the lock while it stood still, and did not notice, takes the fences and sweeps all the same."""
    db.put(cycle(10))
    write(db)
    db.run("MATCH (a:Person {id: 0}), (b:Person {id: 5}) CREATE (a)-[:KNOWS]->(b)")
    complete = Update.complete

    def late(self: Update, *arguments: Any) -> None:
        fence = Fence(db.store, GRAPH)
        fence.take()
        HubWriter(fence, runs.list_runs(db.store)[0].selection).undo(RUN, 1)
        complete(self, *arguments)

    monkeypatch.setattr(Update, "complete", late)
    left = db.members(RUN)
    with pytest.raises(BusyError, match="Another writer has begun to write"):
        write(db)
    assert db.versions() == {RUN: 1}
    assert db.members(RUN) == left
    monkeypatch.undo()
    assert write(db).version > 1
    assert db.verified()[0].memberships_same


def test_fences_are_not_taken_while_a_version_is_being_published(db: Database) -> None:
    db.put(cycle(10))
    write(db)
    (graph,) = db.store.list_graphs()
    with ThreadPoolExecutor(1) as pool, open_graph(db.store, graph) as opened:
        with opened.last_writes():
            taking = pool.submit(Fence(db.store, GRAPH).take)
            with pytest.raises(TimeoutError):
                taking.result(0.5)
        taking.result(10)


def test_who_has_lost_the_graph_neither_hides_a_run_nor_deletes_its_record(db: Database) -> None:
    """Somebody else may have published it since, or entered it anew."""
    db.put(cycle(10))
    write(db)
    (graph,) = db.store.list_graphs()
    with open_graph(db.store, graph) as opened:
        Fence(db.store, GRAPH).take()
        with pytest.raises(BusyError, match="Another writer has begun to write"):
            opened.hubs.hide_run(RUN)
        assert db.versions() == {RUN: 1}
        db.run("MATCH (run:PCohesionRun) SET run.version = 0")
        with pytest.raises(BusyError, match="Another writer has begun to write"):
            opened.sweep()
    assert db.versions() == {RUN: 0}


class Held:
    """Stops the one thread of `pool` where a function of a module is called, until `go` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, module: Any, *, after: bool) -> None:
        self.held, self.go = threading.Event(), threading.Event()
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="late")
        unheld = module.rows_of

        def holding(transaction: neo4j.Transaction, *arguments: Any) -> Any:
            if not threading.current_thread().name.startswith("late"):
                return unheld(transaction, *arguments)
            if after:
                rows = unheld(transaction, *arguments)
                self._wait()
                return rows
            transaction.run("RETURN 1").consume()  # the driver opens a transaction with its first statement
            self._wait()
            return unheld(transaction, *arguments)

        monkeypatch.setattr(module, "rows_of", holding)

    def _wait(self) -> None:
        self.held.set()
        assert self.go.wait(60)


@pytest.mark.parametrize("kind", BATCHES)
def test_a_batch_under_way_that_has_not_reached_its_fence_does_nothing_either(
    db: Database, late: HubWriter, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch, fence_module, after=False)
    batch = held.pool.submit(BATCHES[kind], late)
    assert held.held.wait(60)
    assert write(db).version == 2
    left = db.everything()
    held.go.set()
    with pytest.raises(BusyError, match="Another writer has begun to write"):
        batch.result()
    assert db.everything() == left


@pytest.mark.parametrize("kind", BATCHES)
def test_a_batch_that_holds_its_fence_is_waited_for_and_then_ended(
    db: Database, late: HubWriter, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has done its work and does not commit; the next writer ends it after some seconds and finds nothing of it."""
    patience = usual_or_thorough(1.0, lock.WAIT_SECONDS)
    monkeypatch.setattr(lock, "WAIT_SECONDS", patience)
    held = Held(monkeypatch, hub_writer, after=True)
    batch = held.pool.submit(BATCHES[kind], late)
    assert held.held.wait(60)
    started = time.monotonic()
    assert write(db).version == 2
    assert time.monotonic() - started > patience / 2, "the late batch was not waited for"
    left = db.everything()
    held.go.set()
    with pytest.raises(PcneoError):
        batch.result()
    assert db.everything() == left
    assert db.verified()[0].memberships_same
