"""Who may create, change or delete the hubs of a graph: the writer whose token is on the graph's fences.

A writer that has lost the graph's lock may still have transactions under way in its other sessions, and they would
land among the hubs of the next writer. So each transaction on hubs locks the fence of its session first, and then reads
whose token is on it. The next writer puts its own token there before it reads anything, which waits for those
transactions (DATA-MODEL.md#fences).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import TypeVar

import neo4j

from pcneo.errors import BusyError
from pcneo.store import lock
from pcneo.store.database import Database
from pcneo.store.statements import load_statement
from pcneo.store.transaction import Row, Transaction, rows_of
from pcneo.store.waiting import BlockedError

SESSIONS = 4
"""Fences of a graph: one for each session that writes at once, and one for the sweep."""
ENDED_SECONDS = 2.0
"""How long to wait for transactions that have been ended."""

T = TypeVar("T")


class Fence:
    """The right of one writer's sessions to create, change and delete the hubs of one graph; take it under its lock.

    Attributes:
        graph: the graph's name.
        last_version: the largest number that was published behind it without the graph's lock, once it is taken.
    """

    def __init__(self, db: Database, graph: str) -> None:
        """Prepare with a token of its own; nothing is sent before `take`."""
        self.graph = graph
        self.last_version = 0
        self._db = db
        self._writer = uuid.uuid4().hex
        self._only: int | None = None

    def lent(self, db: Database) -> Fence:
        """Return the same right for a borrower, whose transactions all use the last session's fence."""
        other = copy(self)
        other._db, other._only = db, SESSIONS
        return other

    @property
    def _metadata(self) -> dict[str, str]:
        return {"pcneoGraph": self.graph, "pcneoWriter": self._writer}

    def take(self) -> None:
        """Shut out all earlier writers: wait for their transactions, end them after some seconds, and wait again."""
        try:
            self._take(lock.WAIT_SECONDS)
        except BlockedError:
            its = {"graph": self.graph, "writer": self._writer, "database": self._db.real_name}
            self._db.end_transactions("terminate_late", **its)
            try:
                self._take(ENDED_SECONDS)
            except BlockedError as error:
                raise BusyError(
                    f"An earlier writer of graph {self.graph!r} is still at work. Wait until it is done, and try "
                    f"again. ({error})",
                    graph=self.graph,
                ) from error

    def _take(self, limit: float) -> None:
        text = load_statement("take_fences").render({})
        parameters = {"graph": self.graph, "fences": SESSIONS, "writer": self._writer}
        rows = self._db.committed(rows_of, text, parameters, metadata=self._metadata, limit=limit)
        self.last_version = rows[0]["lastVersion"]

    def is_beside_others(self) -> bool:
        """Return whether a transaction is open that may hold what a commit on hubs needs."""
        return self._db.waits.sees_strangers()

    def write(self, session_number: int, work: Callable[[neo4j.Transaction], T]) -> T:
        """Commit `work(transaction)`, repeated where the server asks for it, and return its result."""
        hold = load_statement("hold_fence").render({})
        number = self._only or session_number

        def fenced(transaction: neo4j.Transaction) -> T:
            self._check(rows_of(transaction, hold, {"graph": self.graph, "number": number}))
            return work(transaction)

        return self._db.committed(fenced, metadata=self._metadata)

    @contextmanager
    def held(self) -> Iterator[tuple[Transaction, object]]:
        """Yield a transaction that holds the last session's fence, and when it took it; the block commits it."""
        with self._db.transaction(self._metadata) as transaction:
            yield transaction, self.hold(transaction, SESSIONS)

    def hold(self, transaction: Transaction, number: int = 1) -> object:
        """Have a transaction hold a session's fence until it ends; return when it took it."""
        rows = transaction.run("hold_fence", graph=self.graph, number=number)
        self._check(rows)
        return rows[0]["heldAt"]

    def _check(self, rows: list[Row]) -> None:
        if [row["writer"] for row in rows] != [self._writer]:
            raise BusyError(
                f"Another writer has begun to write graph {self.graph!r}, so this one stops. Nothing that it wrote "
                "is visible.",
                graph=self.graph,
            )
