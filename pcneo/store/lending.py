"""A graph that is being written, lent within one process: single vertices are published beside a whole graph.

The holder of a graph's lock and fences writes runs of whole graphs. A borrower writes a run of single vertices, behind
the same fences: the next writer takes those first, which waits for what is under way and keeps out what comes later,
as it does with the holder's own batches (DATA-MODEL.md#lanes).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from pcneo.basics.searches import Search
from pcneo.errors import BusyError, PcneoError
from pcneo.store.database import Database, GraphRecord
from pcneo.store.fence import SESSIONS
from pcneo.store.hub_writer import HubWriter
from pcneo.store.standing import OpenGraph, open_graph
from pcneo.store.transaction import Transaction
from pcneo.store.waiting import is_to_end

PATIENCE_SECONDS = 1.0
"""How long single vertices wait for the lock of a graph, which others hold for as long as a whole graph takes."""
PAUSE_SECONDS = 0.1


class BesideGraph(OpenGraph):
    """A graph on loan, for runs of single vertices."""

    def __init__(self, db: Database, graph: GraphRecord, holder: OpenGraph) -> None:
        """Borrow the graph from its holder, for separate transactions."""
        self.graph = graph
        self.fence = holder.fence.lent(db)
        with self.fence.held() as (_, now):  # the fence must still be the holder's
            self.began = now
        self.hubs = HubWriter(self.fence, graph.selection)
        self._db = db
        self._holder = holder
        self._begun: dict[str, int] = {}
        self._committing = False

    @property
    def committing(self) -> bool:
        """Whether its last writes are being committed, behind the fence instead of under the lock."""
        return self._committing

    def next_version(self) -> int:
        """Return a number that neither the holder nor any earlier writer has used."""
        return self._holder.next_version()

    def begin(self, search: Search, scope: str, answers: str = "") -> tuple[str, int]:
        """Enter a run, and sweep what an earlier borrower has left of it, as the holder does before it lends."""
        run, version = super().begin(search, scope, answers)
        if any(left == run for _, left, _ in self._db.list_remains(self.graph.name)):
            self.hubs.undo(run, version)
        self._begun[run] = version
        return run, version

    @contextmanager
    def last_writes(self) -> Iterator[Transaction]:
        """Yield a transaction that holds the fence, in place of the lock; it is committed at the end of the block."""
        with self.fence.held() as (transaction, _):
            yield transaction
            self._committing = True
            transaction.commit()

    def note_version(self, transaction: Transaction, version: int) -> None:
        """Note the number on the fence: the holder has locked the graph's node."""
        transaction.run("note_lent_version", graph=self.graph.name, number=SESSIONS, version=version)

    def undo(self) -> None:
        """Best effort: remove what was written for versions that will not come."""
        with suppress(PcneoError):
            for run, version in self._begun.items():
                self.hubs.undo(run, version)


class _Loan:
    """A graph that this process is opening, has open, or failed to open."""

    def __init__(self) -> None:
        self.settled = threading.Event()
        self.opened: OpenGraph | None = None
        self.turn = threading.Lock()

    def lend(self, opened: OpenGraph) -> None:
        """Let others have the graph, now that it is open."""
        opened.hubs.gently = True
        self.opened = opened
        self.settled.set()


class Lending:
    """Which graphs this process holds and lends."""

    def __init__(self) -> None:
        """Begin with none."""
        self._loans: dict[str, _Loan] = {}

    @contextmanager
    def holding(
        self, db: Database, graph: GraphRecord, sweeping: Callable[[int], object] | None = None
    ) -> Iterator[OpenGraph]:
        """Do what `open_graph` does, and lend the graph inside the block; only for runs of whole graphs.

        It is lent while runs of whole graphs are still being swept.
        """
        loan = _Loan()
        self._loans[graph.name] = loan
        try:
            with open_graph(db, graph, sweeping, ready=loan.lend) as opened:
                yield opened
        finally:
            loan.opened = None
            loan.settled.set()
            self._loans.pop(graph.name, None)

    @contextmanager
    def beside(
        self, db: Database, graph: GraphRecord, sweeping: Callable[[int], object] | None = None
    ) -> Iterator[OpenGraph]:
        """Do what `open_graph` does, or borrow the graph from its holder in this process, once that is ready."""
        loan = self._loans.get(graph.name)
        if loan is not None:
            _wait_for(loan, graph.name)
            if (holder := loan.opened) is not None:
                with loan.turn:
                    beside = BesideGraph(db, graph, holder)
                    try:
                        yield beside
                    except BaseException:
                        if not beside.committing:
                            beside.undo()
                        raise
                return
        with open_graph(db, graph, sweeping, patience=PATIENCE_SECONDS) as opened:
            yield opened


def _wait_for(loan: _Loan, graph: str) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while not loan.settled.wait(PAUSE_SECONDS):
        if is_to_end() or time.monotonic() > until:
            raise BusyError(f"Graph {graph!r} is about to be written. Try again.", graph=graph)
