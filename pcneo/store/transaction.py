"""Transactions: repeated when the server asks for it, or left open for statements that belong together."""

from __future__ import annotations

import logging
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, LiteralString, TypeVar

import neo4j
from neo4j.exceptions import DriverError, Neo4jError

from pcneo.basics.selection import Selection
from pcneo.errors import DatabaseError
from pcneo.store.failures import OUT_OF_MEMORY, translated
from pcneo.store.schema import FORMAT
from pcneo.store.silence import logging_silence
from pcneo.store.statements import load_statement
from pcneo.store.waiting import Wait, is_to_end

PATIENCE_SECONDS = 30.0
"""How long a transaction is retried; the driver's own default."""

PAUSE_SECONDS = 0.2
"""How soon a pause between two attempts is over if the work must stop."""

Row = dict[str, Any]
T = TypeVar("T")
Item = TypeVar("Item")

log = logging.getLogger("pcneo")

_broken: ContextVar[Callable[[], object] | None] = ContextVar("broken", default=None)


class Transaction:
    """An open write transaction, for the few statements that must share one; see `Sessions.transaction`."""

    def __init__(self, opened: neo4j.Transaction, wait: Wait) -> None:
        """Wrap a transaction of the driver, and what it may wait for."""
        self._opened = opened
        self.wait = wait

    def run(self, name: str, names: Mapping[str, str | Sequence[str]] | None = None, /, **parameters: Any) -> list[Row]:
        """Run one statement and return its rows."""
        with translated():
            return rows_of(self._opened, load_statement(name).render(names or {}), parameters)

    def commit(self) -> None:
        """Commit; all of the transaction's writes become visible at once."""
        with translated(), logging_silence():
            self._opened.commit()

    def is_readable(self, run: str, version: int) -> bool:
        """Whether the hubs of a version of a run are kept; no one lets them go before this transaction ends."""
        rows = self.run("hold_versions", run=run, versions=[version])
        return bool(rows and rows[0]["readable"])

    def touch_graph(self, name: str) -> Row | None:
        """Take or keep the write lock on one graph; return its `lastVersion` and the time, None if it is unknown."""
        rows = self.run("touch_graph", name=name, format=FORMAT)
        return rows[0] if rows else None


def sample_names(selection: Selection, *wanted: str) -> dict[str, str | Sequence[str]]:
    """Return the user's names by the sample names of the statement files."""
    values = {"Person": selection.node_labels, "KNOWS": selection.relationship_types, "id": selection.key}
    return {name: values[name] for name in wanted}


@contextmanager
def begun(
    session: neo4j.Session, metadata: Mapping[str, Any] | None = None, *, timeout: float | None = None
) -> Iterator[neo4j.Transaction]:
    """Begin a transaction, which its session rolls back when it is closed, unless it was committed.

    Nothing else closes it: after a failed statement the driver has given its connection back, and closing it would
    roll back what another thread does there by then.
    """
    yield session.begin_transaction(metadata=dict(metadata or {}), timeout=timeout)


def in_transaction(
    session: neo4j.Session,
    work: Callable[..., T],
    *arguments: Any,
    begin: Callable[[neo4j.Session], AbstractContextManager[neo4j.Transaction]] = begun,
) -> T:
    """Commit `work(transaction, *arguments)`, again if the server or the connection asks for it; return its result."""

    def attempt() -> T:
        with begin(session) as opened:
            result = work(opened, *arguments)
            with logging_silence():
                opened.commit()
            return result

    return _patiently(attempt)


def in_one_trip(
    session: neo4j.Session, text: LiteralString, parameters: Row, marks: Mapping[str, str] | None = None
) -> list[Row]:
    """Return the rows of a statement that reads; repeat it when the server or the connection asks for it.

    The server begins and ends the transaction itself, which saves two round trips. Its marks, if any, are listed.
    """
    query = neo4j.Query(text, metadata=dict(marks)) if marks else text

    def attempt() -> list[Row]:
        with logging_silence():
            return [dict(record.items()) for record in session.run(query, parameters)]

    return _patiently(attempt)


def in_halves(work: Callable[[Sequence[Item]], T], items: Sequence[Item], what: str) -> Iterator[T]:
    """Yield `work(items)`, or that of each half if together they do not fit into the server's transaction memory."""
    try:
        done = work(items)
    except DatabaseError as error:
        halve_or_raise(error, len(items), what)
    else:
        yield done
        return
    middle = len(items) // 2
    for half in (items[:middle], items[middle:]):
        yield from in_halves(work, half, what)


def halve_or_raise(error: DatabaseError, number: int, what: str, least: int = 1) -> None:
    """Log that half of something is tried; raise the error again unless so many were too many for the server's memory.

    `least` is how many cannot be divided any further.
    """
    if number <= least or error.data.get("code") != OUT_OF_MEMORY:
        raise error
    log.debug("%d %s at once do not fit into the server's transaction memory; trying half of them", number, what)


@contextmanager
def noticing_breaks(notice: Callable[[], object]) -> Iterator[None]:
    """Call `notice` whenever a connection breaks inside the block, whether or not the work is then repeated.

    Blocks may be nested: each `notice` is called.
    """
    around = _broken.get()

    def notice_all() -> None:
        notice()
        if around is not None:
            around()

    before = _broken.set(notice_all)
    try:
        yield
    except DriverError:
        notice()
        raise
    finally:
        _broken.reset(before)


def interruption_behind(error: BaseException | None, earlier: BaseException | None) -> BaseException | None:
    """Return the interruption that an error is, or that it came from; None if there is none since an earlier one."""
    while error is not None and error is not earlier:
        if not isinstance(error, Exception | GeneratorExit):
            return error
        error = error.__context__
    return None


def _patiently(attempt: Callable[[], T]) -> T:
    """Call `attempt`, and repeat it when the server or the connection asks for it.

    The driver's `execute_write` would also spend half a minute repeating a transaction that will never fit into the
    server's transaction memory, a limit that a commit can meet as well as a statement.
    """
    give_up, earlier = time.monotonic() + PATIENCE_SECONDS, sys.exception()
    attempts, warned = 0, False
    while True:
        try:
            result = attempt()
        except (Neo4jError, DriverError) as error:
            out_of_memory = isinstance(error, Neo4jError) and error.code == OUT_OF_MEMORY
            if out_of_memory or not error.is_retryable() or time.monotonic() > give_up:
                raise
            if interruption_behind(error, earlier) is not None:  # whose place this error has taken
                raise
            is_broken = isinstance(error, DriverError)
            if is_broken and (notice := _broken.get()) is not None:
                notice()
            if is_broken and is_to_end():
                raise
            if attempts == 0 and is_broken:
                log.warning("The connection broke; trying again for %.0f s: %s", PATIENCE_SECONDS, type(error).__name__)
                warned = True
            log.debug("a transaction failed and is repeated: %s", error)
        else:
            if warned:
                log.warning("The connection is back.")
            return result
        _pause(min(2**attempts, 8) * random.uniform(0.4, 0.6))  # noqa: S311 - spreads writers, keeps no secret
        attempts += 1


def _pause(seconds: float) -> None:
    """Wait before another attempt, unless the work must stop meanwhile."""
    until, was_patient = time.monotonic() + seconds, not is_to_end()
    while (left := until - time.monotonic()) > 0 and not (was_patient and is_to_end()):
        time.sleep(min(left, PAUSE_SECONDS))


def rows_of(tx: neo4j.Transaction, text: LiteralString, parameters: Row) -> list[Row]:
    """Run a statement and return its rows by column; `Record.data` would copy every list and double the time."""
    with logging_silence():
        return [dict(record.items()) for record in tx.run(text, parameters)]
