"""One writer per graph: an open transaction that holds the write lock on the graph's node (DATA-MODEL.md#the-lock).

The server frees the lock as soon as the writer's connection is gone. The writer's last step, which makes its run
visible, happens in this transaction, so a writer that has lost the lock cannot take it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from pcneo.errors import BusyError, DatabaseError, NotFoundError, PcneoError
from pcneo.store.database import Database
from pcneo.store.transaction import Transaction
from pcneo.store.waiting import BLOCKED_SECONDS, BlockedError, allowed

WAIT_SECONDS = 5.0
"""How long a second writer waits for the first."""
TOUCH_SECONDS = 30.0
"""How often the transaction is used, so that nothing between us and the server closes an idle connection."""

log = logging.getLogger("pcneo")


class GraphLock:
    """Context manager that holds the right to write one graph.

    Attributes:
        last_version: the largest version number that the graph's runs have used, read under the lock.
        format: the data model's format in which the graph was last written; a later format is left as it is.
        locked_at: the server's time when the lock was taken, as the driver gives it.
        committing: whether its last writes are being committed: from then on their outcome is unknown here.

    Raises on entering:
        BusyError: another writer holds it and did not let go in time.
        NotFoundError: there is no such graph.
    """

    def __init__(self, db: Database, graph: str, patience: float = WAIT_SECONDS) -> None:
        """Prepare the lock of the graph with this name; nothing is sent before the context is entered.

        `patience` is how many seconds to wait for it.
        """
        self._db = db
        self._graph = graph
        self._patience = patience
        self._use = threading.Lock()
        self._spoiled = False
        self._lost: PcneoError | None = None
        self.committing = False
        self._stop = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="pcneo-lock", daemon=True)

    def __enter__(self) -> GraphLock:
        """Take the lock, waiting for as long as its patience and the caller's allow."""
        self._context = self._db.transaction({}, limit=self._patience)
        self._transaction: Transaction = self._context.__enter__()
        wait = self._transaction.wait
        try:
            graph = self._transaction.touch_graph(self._graph)
            if wait.ended:  # the lock came while it was being given up
                raise wait.error()
            if graph is None or graph["lockedAt"] is None:  # the node was deleted while its lock was waited for
                raise NotFoundError(f"There is no graph {self._graph!r}.", what="graph", name=self._graph)
        except BaseException as error:
            try:
                self._context.__exit__(type(error), error, error.__traceback__)
            except BlockedError as blocked:
                raise self._busy(blocked) from blocked
            raise
        wait.limit = allowed(BLOCKED_SECONDS)
        self.last_version: int = graph["lastVersion"]
        self.locked_at: object = graph["lockedAt"]
        self.format: int = graph["format"]
        self._keeper.start()
        return self

    def _busy(self, error: BlockedError) -> BusyError:
        blocker = self._transaction.wait.blocker
        who = "Another pcneo is writing" if blocker is None or blocker.is_ours else "An open transaction holds"
        return BusyError(
            f"{who} graph {self._graph!r} ({blocker}). Wait until it is done and try again.",
            **{**error.data, "graph": self._graph},
        )

    @contextmanager
    def last_writes(self) -> Iterator[Transaction]:
        """Yield the locking transaction, and commit it at the end of the block: all of its writes count, or none."""
        with self._use:
            self._stop.set()
            try:
                if self._spoiled:
                    raise DatabaseError("An earlier step of its last transaction failed.", graph=self._graph)
                self._transaction.touch_graph(self._graph)
            except PcneoError as error:
                raise self._was_lost(error) from error
            self._spoiled = True  # what a failing block wrote must not be committed by a later one
            yield self._transaction
            self.committing = True
            self._transaction.commit()
            self._spoiled = False

    def check(self) -> None:
        """Raise `DatabaseError` once the lock is known to be lost: what is written from then on is in vain."""
        if self._lost is not None:
            raise self._was_lost(self._lost)

    def _was_lost(self, error: PcneoError) -> DatabaseError:
        return DatabaseError(
            f"The lock on graph {self._graph!r} was lost, so nothing new is visible. Run it again. ({error})",
            graph=self._graph,
        )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release the lock; writes that were not committed are rolled back."""
        self._stop.set()
        self._keeper.join()
        with self._use:
            self._context.__exit__(kind, error, trace)

    def _keep(self) -> None:
        while not self._stop.wait(TOUCH_SECONDS):
            with self._use:
                if self._stop.is_set():
                    return
                try:
                    self._transaction.touch_graph(self._graph)
                except PcneoError as error:
                    self._lost = error
                    log.warning(
                        "the lock on graph %r is lost, so this run will not become visible: %s", self._graph, error
                    )
                    return
