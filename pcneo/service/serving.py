"""The service itself: connected as long as it lives, polling, and ending when it is asked to."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

from pcneo.basics.config import ConnectionSettings
from pcneo.basics.searches import SEARCHES
from pcneo.basics.spelling import did_you_mean
from pcneo.errors import ConnectionFailedError, PcneoError
from pcneo.service.events import error_text, log_event
from pcneo.service.figures import Figures
from pcneo.service.lanes import Lanes
from pcneo.service.service_settings import ServiceSettings
from pcneo.store.connection import connect_to
from pcneo.store.requests import RequestQueue
from pcneo.store.schema import OWN_SCHEMA
from pcneo.store.statements import kept_plans
from pcneo.store.transaction import noticing_breaks
from pcneo.store.waiting import patient_until

POLL_SECONDS = 0.5
SLOWEST_POLL_SECONDS = 2.0
QUIET_SECONDS = 60.0
"""How long no request must have come before polls become slower."""
GRAPHS_SECONDS = 10.0
"""Between two looks for graphs that are not there yet."""
LONGEST_PAUSE = 8.0
"""Between two attempts to reach a database that does not answer."""
REFUSED = ("Neo.ClientError.Security.Unauthorized", "Neo.ClientError.Security.CredentialsExpired")
"""Neo4j's codes for a wrong password."""


class Service:
    """Answers requests until it is asked to end.

    Attributes:
        figures: what it has done.
        queue: the database's requests while it is connected, else None.
    """

    def __init__(self, settings: ServiceSettings, connection: Callable[[], ConnectionSettings]) -> None:
        """Prepare."""
        self.figures = Figures()
        self.queue: RequestQueue | None = None
        self._settings = settings
        self._connection = connection
        self._ending = threading.Event()
        self._lanes: Lanes | None = None
        self._ended = threading.Event()
        self._was_connected = False
        self._warned_of: set[str] = set()

    def end(self) -> None:
        """Finish the requests under way, or give them back after the grace; a second call gives them back at once."""
        again = self._ending.is_set()
        self._ending.set()
        if again:
            self._give_back()
        else:  # in its own thread: a signal may have come in the middle of a line of the log
            threading.Thread(target=self._end_in_time, name="pcneo-grace", daemon=True).start()

    def _end_in_time(self) -> None:
        grace = self._settings.grace
        if (lanes := self._lanes) is not None:
            lanes.woken.set()
        for request in [] if lanes is None else lanes.requests:
            log_event(
                "ending, once the request under way is done or the grace is over; interrupt again to end at once",
                request=request,
                grace=grace,
            )
        if not self._ended.wait(grace):
            self._give_back()

    def _give_back(self) -> None:
        if (lanes := self._lanes) is not None:
            lanes.end()

    def run(self) -> None:
        """Serve until `end` is called, through restarts of the database and changes of its password."""
        self._connection()  # an error here is a mistake; a later one is an accident, and may pass
        self.figures.starting = True
        _warm_up()
        pause = 1.0
        while not self._ending.is_set():
            began = time.monotonic()
            try:
                with patient_until(self._ending), kept_plans():
                    self._serve()
            except Exception as error:  # only a mistake in the configuration may end a service
                self.figures.note_break()
                if not self._was_connected and isinstance(error, PcneoError) and error.data.get("code") in REFUSED:
                    raise
                pause = 1.0 if time.monotonic() - began > LONGEST_PAUSE else min(2 * pause, LONGEST_PAUSE)
                what = "cannot reach the database" if isinstance(error, ConnectionFailedError) else "cannot serve"
                again = "" if self._ending.is_set() else f"; trying again in {pause:.0f} s"
                log_event(what + again, level=logging.ERROR, why=error_text(error))
                self._ending.wait(pause)
            finally:
                self.queue = self._lanes = None
        self._ended.set()
        log_event("ended")

    def _serve(self) -> None:
        settings = self._connection()
        with connect_to(settings) as db:
            self._was_connected = True
            queue = RequestQueue(db)
            db.check_format()
            if made := db.ensure_schema(OWN_SCHEMA):
                log_event("made constraints and indexes", on=", ".join(item.place for item in made))
            self.queue = queue
            self.figures.note_answer()
            self._lanes = lanes = Lanes(queue, self._settings, self.figures, self._ending)
            self._log_start(queue, lanes.name, settings)
            try:
                with noticing_breaks(self.figures.note_break):
                    self._poll(lanes, queue)
            finally:
                lanes.close()

    def _log_start(self, queue: RequestQueue, worker: str, settings: ConnectionSettings) -> None:
        known = queue.db.list_graph_names()
        answering = self._settings.graphs or known
        self._note_waiting(known)
        for graph in self.figures.waiting_for:
            if graph not in self._warned_of:  # once, however often the connection breaks
                self._warned_of.add(graph)
                there, near = ", ".join(known) or "none yet", did_you_mean(graph, known).strip() or None
                event = "no graph of that name yet; waiting for it"
                log_event(event, level=logging.WARNING, graph=graph, known=there, hint=near)
        everything = "" if self._settings.graphs else " (all that the database knows)"
        log_event(
            "serving",
            worker=worker,
            uri=settings.uri,
            database=queue.db.name,
            graphs=(", ".join(answering) or "none yet") + everything,
        )

    def _note_waiting(self, known: Sequence[str]) -> None:
        self.figures.waiting_for = tuple(graph for graph in self._settings.graphs if graph not in known)

    def _poll(self, lanes: Lanes, queue: RequestQueue) -> None:
        last, pause = time.monotonic(), POLL_SECONDS
        looked = last
        while not self._ending.is_set():
            if (before := self.figures.waiting_for) and time.monotonic() - looked >= GRAPHS_SECONDS:
                self._note_waiting(queue.db.list_graph_names())
                looked = time.monotonic()
                for graph in sorted(set(before) - set(self.figures.waiting_for)):
                    log_event("the graph is there now", graph=graph)
            if lanes.step():
                last, pause = time.monotonic(), POLL_SECONDS
            elif time.monotonic() - last > QUIET_SECONDS:
                pause = min(1.1 * pause, SLOWEST_POLL_SECONDS)
            lanes.woken.wait(pause)


def _warm_up() -> None:
    """Compile the kernels, or load them compiled, before the first request waits for them."""
    from pcneo.graph import graph_from_edges
    from pcneo.search import search_all, search_one

    graph = graph_from_edges([1, 2, 3, 4], [1, 2, 1, 3], [2, 3, 3, 4])
    for search in SEARCHES:
        search_one(graph, 1, "1/2", search)
        search_all(graph, "1/2", search)
