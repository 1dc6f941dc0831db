"""Who may create, change or delete the hubs of a graph: the writer whose token is on the graph's fences.

A writer that has lost the graph's lock may still have transactions under way in its other sessions, and they would
land among the hubs of the next writer. So each transaction on hubs locks the fence of its session first, and then reads
whose token is on it. The next writer puts its own token there before it reads anything, which waits for those
transactions (DATA-MODEL.md#fences).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import TypeVar

import neo4j

from pcneo.errors import BusyError
from pcneo.store import lock
from pcneo.store.database import Database
from pcneo.store.statements import load_statement
from pcneo.store.transaction import rows_of
from pcneo.store.waiting import BlockedError

SESSIONS = 4
"""Fences of a graph: one for each session that writes at once, and one for the sweep."""
ENDED_SECONDS = 2.0
"""How long to wait for transactions that have been ended."""

T = TypeVar("T")


class Fence:
    """The right of one writer's sessions to create, change and delete the hubs of one graph; take it under its lock."""

    def __init__(self, db: Database, graph: str) -> None:
        """Prepare with a token of its own; nothing is sent before `take`."""
        self._db = db
        self._graph = graph
        self._writer = uuid.uuid4().hex

    @property
    def _metadata(self) -> dict[str, str]:
        return {"pcneoGraph": self._graph, "pcneoWriter": self._writer}

    def take(self) -> None:
        """Shut out all earlier writers: wait for their transactions, end them after some seconds, and wait again."""
        try:
            self._take(lock.WAIT_SECONDS)
        except BlockedError:
            self._db.terminate_late(self._graph, self._writer)
            try:
                self._take(ENDED_SECONDS)
            except BlockedError as error:
                raise BusyError(
                    f"An earlier writer of graph {self._graph!r} is still at work. Wait until it is done, and try "
                    f"again. ({error})",
                    graph=self._graph,
                ) from error

    def _take(self, limit: float) -> None:
        text = load_statement("take_fences").render({})
        parameters = {"graph": self._graph, "fences": SESSIONS, "writer": self._writer}
        self._db.committed(rows_of, text, parameters, metadata=self._metadata, limit=limit)

    def is_beside_others(self) -> bool:
        """Whether a transaction is open that may hold what a commit on hubs needs."""
        return self._db.waits.sees_strangers()

    def write(self, session_number: int, work: Callable[[neo4j.Transaction], T]) -> T:
        """Return `work(transaction)`, committed, done again where the server asks for it."""
        hold = load_statement("hold_fence").render({})

        def fenced(transaction: neo4j.Transaction) -> T:
            rows = rows_of(transaction, hold, {"graph": self._graph, "number": session_number})
            if [row["writer"] for row in rows] != [self._writer]:
                raise BusyError(
                    f"Another pcneo has begun to write graph {self._graph!r}, so this one stops. Nothing that it wrote "
                    "is visible.",
                    graph=self._graph,
                )
            return work(transaction)

        return self._db.committed(fenced, metadata=self._metadata)
