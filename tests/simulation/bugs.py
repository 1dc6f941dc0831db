"""Bugs that are planted to check that they are found, each as a patch of the shipped code while a block runs.

Each removes one thing that keeps the order of events safe.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

from pcneo.annotate import writing
from pcneo.errors import DatabaseError
from pcneo.release import budget, ledger_mending, spending
from pcneo.service import work, worker
from pcneo.store import fence, lending, lock, standing, transaction
from pcneo.store.ledger import list_ledger
from pcneo.store.requests import Answer
from simulation.statements import STATEMENTS
from simulation.statements.requests import PRODUCED

__all__ = ["BUGS", "Bug"]

Bug = Callable[[], contextlib.AbstractContextManager[Any]]
BUGS: dict[str, dict[str, Bug]] = {"ledger": {}, "service": {}}
"""By stage, what it has to find."""


def _planted(stage: str) -> Callable[[Callable[[], Iterator[None]]], Callable[[], Iterator[None]]]:
    def enter(bug: Callable[[], Iterator[None]]) -> Callable[[], Iterator[None]]:
        BUGS[stage][bug.__name__.replace("_", " ")] = contextlib.contextmanager(bug)
        return bug

    return enter


@_planted("ledger")
def budget_read_outside_the_lock() -> Iterator[None]:
    """The ledger that decides is the one from before the lock was taken."""
    locked = budget.ledger_locked
    read = mock.Mock()

    @contextlib.contextmanager
    def late(db: Any, graphs: Any) -> Iterator[Any]:
        read.return_value = list_ledger(db)
        with locked(db, graphs) as locks:
            yield locks

    with mock.patch.object(spending, "ledger_locked", late), mock.patch.object(spending, "read_ledger", read):
        yield


@_planted("ledger")
def a_lock_that_only_reads() -> Iterator[None]:
    """The graph's node is looked at, and not written."""

    def touch_graph(tx: Any, name: str, format: int) -> list[dict[str, Any]]:
        rows = [tx.props(graph) for graph in tx.match("PCohesionGraph", name=name)]
        return [{"lastVersion": row.get("lastVersion", 0), "lockedAt": tx.now, "format": format} for row in rows]

    with mock.patch.dict(STATEMENTS, touch_graph=touch_graph):
        yield


@_planted("ledger")
def only_the_name_itself_is_locked() -> Iterator[None]:
    """Other names over the same data are compared, and not locked."""

    @contextlib.contextmanager
    def one(db: Any, graphs: Sequence[Any]) -> Iterator[Any]:
        with contextlib.ExitStack() as stack:
            yield {graph.name: stack.enter_context(lock.GraphLock(db, graph.name)) for graph in graphs}

    with mock.patch.object(spending, "ledger_locked", one), mock.patch.object(budget, "ledger_locked", one):
        yield


@_planted("ledger")
def a_commit_that_fails_is_taken_for_done() -> Iterator[None]:
    """Numbers come out though nobody knows whether the spend is recorded."""
    commit = transaction.Transaction.commit

    def hopeful(self: Any) -> None:
        with contextlib.suppress(DatabaseError):
            commit(self)

    with mock.patch.object(transaction.Transaction, "commit", hopeful):
        yield


@_planted("ledger")
def a_lost_lock_goes_unnoticed() -> Iterator[None]:
    """The last writes go into a transaction of their own, whatever became of the one that holds the lock."""

    @contextlib.contextmanager
    def elsewhere(self: Any) -> Iterator[Any]:
        self._stop.set()
        with self._db.transaction({}) as other:
            yield other
            other.commit()

    with mock.patch.object(lock.GraphLock, "last_writes", elsewhere):
        yield


@_planted("ledger")
def a_spend_that_is_not_recorded() -> Iterator[None]:
    """The transaction is committed without it."""
    with mock.patch.object(spending, "create_release"):
        yield


@_planted("ledger")
def a_secret_that_is_not_kept() -> Iterator[None]:
    """Who finds none makes one up, and goes by it though somebody has stored another one first."""

    def lock_ledger(tx: Any, secret: str) -> bytes:
        there = [row["secret"] for row in tx.run("get_ledger_secret") if row["secret"]]
        if not there:
            lock(tx, secret)
        return (there or [secret])[0].encode()

    lock = spending.lock_ledger
    with mock.patch.object(spending, "lock_ledger", lock_ledger):
        yield


@_planted("ledger")
def the_lock_of_a_node_that_is_gone() -> Iterator[None]:
    """Who has waited for the lock of a graph that was deleted meanwhile goes on as if it had it."""
    touch = STATEMENTS["touch_graph"]

    def touch_graph(tx: Any, **values: Any) -> list[dict[str, Any]]:
        return [{**row, "lockedAt": row["lockedAt"] or tx.now, "format": 3} for row in touch(tx, **values)]

    with mock.patch.dict(STATEMENTS, touch_graph=touch_graph):
        yield


@_planted("ledger")
def a_ledger_that_is_moved_under_one_lock() -> Iterator[None]:
    """What is spent meanwhile under the name that it had, or gets, is not seen."""

    @contextlib.contextmanager
    def held(db: Any, graph: str, other: str) -> Iterator[Any]:
        with lock.GraphLock(db, _known(db, graph, other)[0]) as one, one.last_writes() as tx:
            yield tx

    with mock.patch.object(ledger_mending, "_held", held):
        yield


@_planted("ledger")
def a_ledger_that_is_moved_in_two_steps() -> Iterator[None]:
    """The lock of one name is given up before the commit that moves the ledger."""

    @contextlib.contextmanager
    def held(db: Any, graph: str, other: str) -> Iterator[Any]:
        known = _known(db, graph, other)
        with contextlib.ExitStack() as stack:
            locks = {name: stack.enter_context(lock.GraphLock(db, name)) for name in known}
            yield stack.enter_context(budget.last_writes_of(known[:1], locks))[known[0]]

    with mock.patch.object(ledger_mending, "_held", held):
        yield


def _known(db: Any, graph: str, other: str) -> list[str]:
    return sorted({record.name for record in db.list_graphs()} & {graph, other}) or [graph]


@_planted("ledger")
def totals_that_are_counted() -> Iterator[None]:
    """A new total is numbered by how many there are, which are fewer than the last one's number."""

    def next_number(ledger: Any, graph: str) -> int:
        return 1 + sum(total.graph == graph for total in ledger.budgets)

    with mock.patch.object(budget, "next_number", next_number), mock.patch.object(spending, "next_number", next_number):
        yield


# --- Of the service and its writers


@_planted("service")
def a_lost_fence() -> Iterator[None]:
    """A writer does not look whose fence it is."""

    def write(self: Any, session_number: int, work: Callable[[Any], Any]) -> Any:
        return self._db.committed(work, metadata=self._metadata)

    with mock.patch.object(fence.Fence, "write", write):
        yield


@_planted("service")
def a_token_that_is_not_read() -> Iterator[None]:
    """Whoever has worked on a request answers it, whether or not it is still theirs."""
    finish = STATEMENTS["finish_request"]

    def finish_request(tx: Any, id: object, **values: Any) -> list[dict[str, Any]]:
        tokens = [tx.props(request).get("token") for request in tx.match("PCohesionRequest", id=id)]
        if tokens and tokens[0] is not None:
            return finish(tx, id=id, **{**values, "token": tokens[0]})
        for request in tx.match("PCohesionRequest", id=id):
            produced = tuple((row["run"], row["version"]) for row in values["runs"])
            tx.set(request, status=values["status"], **{PRODUCED: produced or None})
        return [{"finished": 1}]

    with mock.patch.dict(STATEMENTS, finish_request=finish_request):
        yield


@_planted("service")
def a_sweep_that_is_too_wide() -> Iterator[None]:
    """What came with the version that readers go by is swept, too."""
    sweep = STATEMENTS["delete_unseen"]

    def delete_unseen(tx: Any, version: int, **values: Any) -> list[dict[str, Any]]:
        return sweep(tx, version=max(0, version - 1), **values)

    with mock.patch.dict(STATEMENTS, delete_unseen=delete_unseen):
        yield


@_planted("service")
def a_request_that_is_not_locked() -> Iterator[None]:
    """It is read and then claimed, and so it is by others."""
    with mock.patch.dict(STATEMENTS, lock_requests=lambda *_, **__: [{"locked": 1}]):
        yield


@_planted("service")
def what_was_retired_is_not_restored() -> Iterator[None]:
    """A sweep deletes what came, and forgets what went."""
    with mock.patch.dict(STATEMENTS, restore_cohesions=lambda *_, **__: [{"restored": 0}]):
        yield


@_planted("service")
def a_number_that_is_used_twice() -> Iterator[None]:
    """The graph does not count on with its runs."""
    with mock.patch.dict(STATEMENTS, note_version=lambda *_, **__: [{"noted": 1}]):
        yield


@_planted("service")
def a_number_that_is_lent_twice() -> Iterator[None]:
    """Who borrows a graph takes the number that its holder will take."""

    def next_version(self: Any) -> int:
        with self._holder._counting:
            return self._holder._last_on_record() + 1

    with mock.patch.object(lending.BesideGraph, "next_version", next_version):
        yield


@_planted("service")
def what_is_lent_is_not_fenced() -> Iterator[None]:
    """Who borrows a graph publishes whether or not its holder still has it."""

    @contextlib.contextmanager
    def held(self: Any) -> Iterator[Any]:
        with self._db.transaction({}) as opened:
            yield opened, 0.0

    with mock.patch.object(fence.Fence, "held", held):
        yield


@_planted("service")
def what_is_published_is_not_fenced() -> Iterator[None]:
    """The holder of the lock publishes even if somebody has taken the fences meanwhile."""
    with mock.patch.object(standing.OpenGraph, "last_writes", lambda self: self.lock.last_writes()):
        yield


@_planted("service")
def a_later_request_goes_first() -> Iterator[None]:
    """The queue is a stack."""
    poll = STATEMENTS["poll_requests"]

    def poll_requests(tx: Any, limit: int, **values: Any) -> list[dict[str, Any]]:
        (row,) = poll(tx, limit=1_000, **values)
        return [{**row, "small": row["small"][::-1][:limit], "large": row["large"][::-1][:limit]}]

    with mock.patch.dict(STATEMENTS, poll_requests=poll_requests):
        yield


@_planted("service")
def a_version_that_nobody_relies_on() -> Iterator[None]:
    """Versions and runs are let go, whatever releases rest on them."""
    with contextlib.ExitStack() as stack:
        for module in (work, writing):
            stack.enter_context(mock.patch.object(module, "versions_relied_on", return_value=set()))
        yield


@_planted("service")
def a_stop_that_is_taken_for_a_cancellation() -> Iterator[None]:
    """Whatever stops the work, its author hears that it was cancelled."""

    def log_removal(self: Any) -> None:
        if self.lease.stopped is not None:
            self.lease.let_be()
            self.queue.finish(self.claim, Answer("cancelled", "Cancelled."))

    with mock.patch.object(work.Work, "_log_removal", log_removal):
        yield


@_planted("service")
def a_stop_that_is_an_attempt() -> Iterator[None]:
    """A service that is stopped three times has given up."""
    give_back = worker.Worker._give_back

    def counted(self: Any, claim: Any, message: str, *, attempts: int, **values: Any) -> tuple[str, str]:
        return give_back(self, claim, message, attempts=claim.attempts, **values)

    with mock.patch.object(worker.Worker, "_give_back", counted):
        yield


@_planted("service")
def a_timeout_that_cancels_nothing() -> Iterator[None]:
    """Who has waited for too long is told that the request was cancelled, and it is not."""
    with mock.patch.dict(STATEMENTS, cancel_request=lambda *_, **__: [{"cancelled": 1}]):
        yield
