"""The lock on a graph without a database: kept alive while it is held, and nothing half written is committed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest

from pcneo.errors import BusyError, DatabaseError, NotFoundError
from pcneo.store import lock
from pcneo.store.lock import GraphLock
from pcneo.store.waiting import BLOCKED_SECONDS, BlockedError, lock_patience

GRAPH = {"lastVersion": 7, "lockedAt": "noon", "format": 4}


class Held:
    """A database whose transaction holds a graph, or what stands in for it."""

    def __init__(self, graph: dict[str, Any] | None = GRAPH) -> None:
        self.graph, self.touches, self.commits, self.fails = graph, 0, 0, False
        self.wait = SimpleNamespace(ended=False, limit=None, blocker=None, error=lambda: BlockedError("Blocked."))

    @contextmanager
    def transaction(self, metadata: object, limit: float) -> Iterator[Any]:
        self.asked = limit
        yield self

    def touch_graph(self, name: str) -> dict[str, Any] | None:
        if self.fails:
            raise DatabaseError("The connection is gone.")
        self.touches += 1
        return self.graph

    def commit(self) -> None:
        if self.fails:
            raise DatabaseError("The connection is gone.")
        self.commits += 1


def locked(held: Held) -> GraphLock:
    db: Any = held
    return GraphLock(db, "friends")


def until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def refuses(locking: GraphLock) -> bool:
    try:
        locking.check()
    except DatabaseError as error:
        return "lock on graph 'friends' was lost, so nothing new is visible" in str(error)
    return False


def test_a_lock_is_used_again_and_again_lest_its_connection_be_closed_and_its_loss_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lock, "TOUCH_SECONDS", 0.001)
    held = Held()
    with locked(held) as locking:
        assert (locking.last_version, locking.locked_at, locking.format) == (7, "noon", 4)
        until(lambda: held.touches > 3)
        assert not refuses(locking)
        held.fails = True
        until(lambda: refuses(locking))
        with pytest.raises(DatabaseError, match="was lost"), locking.last_writes():
            pytest.fail("it must not be written to")
    assert held.commits == 0


def test_the_patience_of_the_caller_counts_for_what_the_lock_is_used_for_too() -> None:
    held = Held()
    with lock_patience(2.0), locked(held):
        assert (held.asked, held.wait.limit) == (lock.WAIT_SECONDS, 2.0)
    db: Any = held
    with GraphLock(db, "friends", 3.0):
        assert (held.asked, held.wait.limit) == (3.0, BLOCKED_SECONDS)


def test_last_writes_are_committed_as_a_whole_and_what_a_failing_block_wrote_never_is() -> None:
    held = Held()
    with locked(held) as locking:
        with locking.last_writes() as transaction:
            assert transaction is held
            assert not locking.committing
        assert (held.commits, locking.committing) == (1, True)
    again = Held()
    with locked(again) as locking:
        with suppress(ValueError), locking.last_writes():
            raise ValueError
        assert not locking.committing
        with pytest.raises(DatabaseError, match="earlier step of its last transaction failed"), locking.last_writes():
            pytest.fail("it must not be written to")
    assert again.commits == 0


def test_once_a_commit_is_sent_nobody_knows_whether_it_counts() -> None:
    held = Held()
    with locked(held) as locking:
        with pytest.raises(DatabaseError), locking.last_writes():
            held.fails = True
        assert locking.committing


@pytest.mark.parametrize("graph", [None, {**GRAPH, "lockedAt": None}])
def test_a_graph_that_is_gone_is_said_to_be(graph: dict[str, Any] | None) -> None:
    with pytest.raises(NotFoundError, match="no graph 'friends'"), locked(Held(graph)):
        pytest.fail("it cannot be held")


def test_a_lock_that_came_while_it_was_given_up_is_not_taken_for_held() -> None:
    held = Held()
    held.wait.ended = True
    with pytest.raises(BusyError), locked(held):
        pytest.fail("it cannot be held")


@pytest.mark.parametrize(
    ("blocker", "says"),
    [
        (None, "Another pcneo is writing graph 'friends'"),
        (SimpleNamespace(is_ours=True), "Another pcneo is writing graph 'friends'"),
        (SimpleNamespace(is_ours=False), "An open transaction holds graph 'friends'"),
    ],
)
def test_whose_lock_is_waited_for_is_said(blocker: Any, says: str) -> None:
    class Blocked(Held):
        @contextmanager
        def transaction(self, metadata: object, limit: float) -> Iterator[Any]:
            try:
                yield self
            except DatabaseError as error:
                raise BlockedError("Blocked.") from error

    held = Blocked()
    held.fails, held.wait.blocker = True, blocker
    with pytest.raises(BusyError, match=says), locked(held):
        pytest.fail("it cannot be held")
