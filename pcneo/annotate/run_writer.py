"""Write cohesions: one writer at a time for a graph, runs that appear whole or not at all, leftovers swept.

Hubs are created under a fresh run identifier while the previous run stays visible; the transaction that holds the
graph's lock then makes the new run `complete` and the old one `replaced` at once (DATA-MODEL.md#the-life-of-a-run).
"""

from __future__ import annotations

import logging
import secrets
import uuid
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

from pcneo.config import __version__
from pcneo.errors import PcneoError
from pcneo.graph import membership_hash
from pcneo.model import CohesionBatch, Key, Run, Selection
from pcneo.search import p_text
from pcneo.store.gateway import CohesionRow, Gateway, GraphRecord
from pcneo.store.lock import GraphLock
from pcneo.store.schema import OWN_SCHEMA
from pcneo.store.sweep import sweep
from pcneo.store.transaction import RunFigures

__all__ = [
    "MEMBERSHIPS_A_TRANSACTION",
    "WRITERS",
    "GraphWriter",
    "NewRun",
    "rows_of",
    "transactions_of",
    "writer_of",
]

MEMBERSHIPS_A_TRANSACTION = 20_000
WRITERS = 3
"""Sessions that write at once, with about 20,000 memberships a transaction (DATA-MODEL.md#what-it-costs).

Beside a server on the same two cores four sessions write more slowly than three (`scripts/bench writers`).
"""

log = logging.getLogger("pcneo")


@dataclass(frozen=True)
class NewRun:
    """A run that is being written.

    Attributes:
        id: random.
        p: the exact fraction.
        score: name of the score.
        scope: `graph` or `vertices`.
        owners: the vertices of a `vertices` run; empty for a `graph` run.
    """

    id: str
    p: Fraction
    score: str
    scope: str
    owners: Sequence[Key] = ()

    def replaces(self, run: Run) -> bool:
        """Whether a complete run is replaced when this one completes."""
        return run.status == "complete" and self.scope == "graph" and self._same_question(run)

    def trims(self, run: Run) -> bool:
        """Whether a complete run loses the hubs of this one's vertices."""
        return run.status == "complete" and self.scope == "vertices" and self._same_question(run)

    def _same_question(self, run: Run) -> bool:
        return (run.scope, run.p_text, run.score) == (self.scope, p_text(self.p), self.score)


class GraphWriter:
    """The right to write one graph, and the runs begun with it; `writer_of` makes it."""

    def __init__(self, gateway: Gateway, graph: GraphRecord, lock: GraphLock) -> None:
        """Begin with no run."""
        self.gateway = gateway
        self.graph = graph
        self.begun: list[NewRun] = []
        self.completing = False
        self._figures: dict[str, RunFigures] = {}
        self._lock = lock

    def begin_run(self, p: Fraction, score: str, scope: str, owners: Sequence[Key]) -> NewRun:
        """Record a new run; it stays `running`, and so invisible, until `complete`."""
        run = NewRun(uuid.uuid4().hex, p, score, scope, owners)
        self.gateway.create_run(run.id, self.graph.name, scope, float(p), p_text(p), score, __version__)
        self.begun.append(run)
        return run

    def write_rows(self, run: NewRun, rows: Iterable[CohesionRow]) -> Iterator[int]:
        """Write hubs in several transactions at once; yield the memberships of a transaction when it is done.

        Rows are taken only as fast as they are written, so that memory stays bounded however many there are.
        """
        with ThreadPoolExecutor(WRITERS, thread_name_prefix="pcneo-write") as pool:
            pending: deque[Future[int]] = deque()
            try:
                for batch in transactions_of(rows, MEMBERSHIPS_A_TRANSACTION):
                    pending.append(pool.submit(self._create, run, batch))
                    if len(pending) > WRITERS + 1:
                        yield pending.popleft().result()
                while pending:
                    yield pending.popleft().result()
            finally:
                for future in pending:
                    future.cancel()

    def _create(self, run: NewRun, rows: Sequence[CohesionRow]) -> int:
        return self.gateway.create_cohesions(self.graph.selection, run.id, float(run.p), run.score, rows)

    def end_run(self, run: NewRun, figures: RunFigures) -> None:
        """Note what the record of a run says once it is complete: all of its hubs are written."""
        self._figures[run.id] = figures

    def complete(self) -> None:
        """Make the runs visible, all of which have ended, and those they replace invisible, in one commit."""
        there = [run for run in self.gateway.list_runs() if run.graph == self.graph.name]
        rests = [(run, old, *self._rest(run, old)) for run in self.begun for old in there if run.trims(old)]
        with self._lock.last_writes() as transaction:
            for run in self.begun:
                replaced = [old.id for old in there if run.replaces(old)]
                transaction.complete_run(run.id, self.graph.name, replaced, self._figures[run.id])
            for run, old, memberships, digest in rests:
                transaction.delete_vertex_cohesions(self.graph.selection, old.id, run.owners)
                transaction.update_run(old.id, memberships, digest, "complete" if memberships else "replaced")
            self.completing = True

    def _rest(self, run: NewRun, old: Run) -> tuple[int, str]:
        """Return what an earlier run of single vertices keeps: its memberships, and their hash."""
        gone = set(run.owners)
        stored = self.gateway.stream_cohesions(self.graph.selection, old.id)
        # A hub whose owner was deleted has none; a member that was deleted is in no hub any more.
        kept = [(vertex, members) for vertex, members, _ in stored if vertex is not None and vertex not in gone]
        return sum(len(members) for _, members in kept), membership_hash(kept)


@contextmanager
def writer_of(gateway: Gateway, name: str, selection: Selection) -> Iterator[GraphWriter]:
    """Hold the right to write one graph. Sweeps what dead writers left and, on failure, what this one wrote.

    Raises:
        BusyError: another writer holds the graph.
        GraphError: the name stands for another selection.
    """
    gateway.ensure_schema(OWN_SCHEMA)
    graph = gateway.merge_graph(name, selection, secrets.token_hex(32))
    with GraphLock(gateway, name) as lock:
        sweep(gateway, name)
        writer = GraphWriter(gateway, graph, lock)
        try:
            yield writer
        except BaseException:
            # Whether a commit that has been sent counts is unknown here; the next sweep decides by the run's status.
            if not writer.completing:
                _discard(gateway, lock, name, [run.id for run in writer.begun])
            raise
    _sweep_if_free(gateway, name)


def _sweep_if_free(gateway: Gateway, name: str) -> None:
    """Sweep if nobody else writes; the new run counts already, and the next writer sweeps what is left."""
    try:
        with GraphLock(gateway, name):
            sweep(gateway, name)
    except PcneoError as error:
        log.debug("what was replaced in graph %r is left to the next writer: %s", name, error)


def _discard(gateway: Gateway, lock: GraphLock, name: str, runs: Sequence[str]) -> None:
    """Delete what a failed writer began, and the graph's name if nothing else uses it; failing here is no error."""
    if runs:
        log.info(
            "Removing what was written so far. Interrupt to leave that to the next `pcneo annotate` of this graph."
        )
    try:
        for run in runs:
            gateway.delete_run(run)
        with lock.last_writes() as transaction:
            transaction.run("delete_unused_graph", name=name)
    except PcneoError as error:
        log.debug("remains in graph %r are left to the next writer: %s", name, error)


def transactions_of(rows: Iterable[CohesionRow], memberships: int) -> Iterator[list[CohesionRow]]:
    """Cut rows into transactions of about `memberships` memberships, and at least one row."""
    transaction: list[CohesionRow] = []
    members = 0
    for row in rows:
        transaction.append(row)
        members += row["size"]
        if members >= memberships:
            yield transaction
            transaction, members = [], 0
    if transaction:
        yield transaction


def rows_of(batch: CohesionBatch) -> Iterator[CohesionRow]:
    """Yield the cohesions of a batch as rows of the statement `create_cohesions`."""
    # Keys become Python's own for the whole batch at once, which takes a fraction of the time of one by one.
    vertices, members = batch.keys[batch.vertices].tolist(), batch.keys[batch.members].tolist()
    bounds = batch.offsets.tolist()
    hubs = zip(vertices, bounds, bounds[1:], batch.edges.tolist(), batch.densities.tolist(), strict=False)
    for vertex, start, end, edges, density in hubs:
        yield {
            "vertex": vertex,
            "size": end - start,
            "edges": edges,
            "density": density,
            "members": members[start:end],
        }
