"""Whole graphs kept up to date without a request, by one of several services: the due time is on the graph's node."""

from __future__ import annotations

import logging
import time

from pcneo.annotate.plan import make_plan
from pcneo.annotate.writing import update_runs
from pcneo.basics.model import Progress
from pcneo.errors import BusyError, ConnectionFailedError, DatabaseError, GraphChangedError, PcneoError
from pcneo.service.events import log_event, raise_outage
from pcneo.service.figures import Figures
from pcneo.service.lease import EndingError
from pcneo.service.service_settings import ServiceSettings
from pcneo.store.database import GraphRecord
from pcneo.store.lending import Lending
from pcneo.store.requests import RequestQueue
from pcneo.store.standing import Keeping

SHARE = 0.05
"""At most this share of the time goes into rereading graphs whose counts have not changed."""
LOCK_SECONDS = 1.0
"""How long to wait for a graph that someone is writing; it is being brought up to date, or will be soon."""


class Schedule:
    """Looks at graphs at intervals, each time at their counts, rarely at all of them; updates those that changed."""

    def __init__(
        self, queue: RequestQueue, settings: ServiceSettings, figures: Figures, progress: Progress, lending: Lending
    ) -> None:
        """Prepare."""
        self._queue = queue
        self._settings = settings
        self._figures = figures
        self._progress = progress
        self._lending = lending
        self._next = 0.0
        self._failed: dict[
            str, tuple[int, int]
        ] = {}  # by graph: the counts with which it could not be brought up to date

    def is_due(self) -> bool:
        """Whether it is time to look."""
        return self._settings.every is not None and time.monotonic() >= self._next

    def step(self) -> None:
        """Look at the graphs that are due, and bring up to date those that have changed."""
        every = self._settings.every
        if every is None or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + min(every, 5.0)
        due = self._queue.list_due()
        if self._settings.graphs:
            due &= set(self._settings.graphs)
        known: dict[str, GraphRecord] = {}
        for graph in sorted(due):
            try:
                known = known or {record.name: record for record in self._queue.db.list_graphs()}
                if graph in known:
                    self._look(known[graph], every)
            except PcneoError as error:
                raise_outage(error)
                log_event("not updated", level=logging.WARNING, graph=graph, why=error)

    def _look(self, graph: GraphRecord, every: float) -> None:
        try:
            reread = self._queue.claim_due(graph.name, every, LOCK_SECONDS)
        except (BusyError, DatabaseError) as error:
            raise_outage(error)
            log_event("being written", level=logging.DEBUG, graph=graph.name, why=error)
            return
        runs = [run for run in self._queue.db.list_runs() if (run.graph, run.scope) == (graph.name, "graph")]
        if reread is None or not runs:
            return
        counts = self._queue.db.count_store(graph.selection)
        is_as_read = all((run.node_count, run.relationship_count) == counts for run in runs)
        if not reread and (is_as_read or self._failed.get(graph.name) == counts):
            return
        db, threads, started = self._queue.db, self._settings.concurrency, time.monotonic()
        try:
            result = update_runs(
                make_plan(db, "write", graph=graph.name, concurrency=threads, progress=self._progress),
                Keeping(),
                log_removal=lambda: log_event("removing what the update wrote", graph=graph.name),
                opens=self._lending.holding,
            )
        except (ConnectionFailedError, EndingError):
            raise
        except PcneoError as error:  # lest a graph that cannot be read is read again each time
            if not isinstance(error, BusyError | GraphChangedError):
                self._failed[graph.name] = counts
            self._note_reading(graph, started)
            raise
        self._failed.pop(graph.name, None)
        seconds = self._note_reading(graph, started)
        self._figures.add_update("update", result)
        for run in result.runs:
            if run.changed:
                changes = {"version": run.version, "added": run.added, "retired": run.retired}
                log_event("updated", run=run.run, graph=graph.name, p=str(run.search.p), **changes, seconds=seconds)

    def _note_reading(self, graph: GraphRecord, started: float) -> float:
        """Let the graph be read again only after so long that reading it takes its share; return how long it took."""
        seconds = time.monotonic() - started
        self._queue.note_reading(graph.name, seconds * (1 / SHARE - 1))
        return seconds
