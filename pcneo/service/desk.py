"""The queue as one service sees it: new requests are entered, the next of each lane is claimed, old answers deleted.

Neither what a request says nor someone else's open lock on it keeps the next one from being claimed.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable

from pcneo.basics.model import Key
from pcneo.errors import BusyError, DatabaseError
from pcneo.service.events import error_text, log_event, raise_outage
from pcneo.service.service_settings import ServiceSettings
from pcneo.service.worker import ATTEMPTS, sentence_of
from pcneo.store.requests import BATCH, Claim, RequestQueue, Waiting
from pcneo.store.waiting import lock_patience

LONGEST_WAIT = 30.0
"""How long a request held by someone else's transaction is left alone."""
LEAST_BUSY_WAIT, BUSY_WAIT = 2.0, 5.0
"""How long all requests for a graph are left alone, at first and at most, once one of them has found it busy."""
ENTER_SECONDS = 3.0
"""How often to look for requests without a status when the number of requests does not show that there are new ones."""
SLICE_SECONDS = 10.0
"""How long new requests are entered, or old answers deleted, before a request is claimed."""
MOST_HELD = 10
"""How many new requests held by others' transactions are skipped; beyond that, entering waits until these let go."""
TIDY_SECONDS = 60.0
"""How often old answers are deleted."""
TIDY_PATIENCE = 2.0
"""How long deleting them waits for someone else's lock."""


class Desk:
    """Looks after the queue of one database, for one thread at a time."""

    def __init__(
        self, queue: RequestQueue, settings: ServiceSettings, name: str, answered: Callable[[], object]
    ) -> None:
        """Prepare without asking the database; `answered` is called each time that the database has answered."""
        self._answered = answered
        self._name = name
        self._queue = queue
        self._settings = settings
        self._known = -1
        self._entered = self._tidied = self._not_refused_until = -1e9
        self._left_alone: dict[Key, float] = {}
        self._busy: dict[str, tuple[float, float]] = {}  # by graph: busy since when, left alone until when
        self._troubles: Counter[Key] = Counter()

    def look(self) -> Waiting:
        """Enter what is new, tidy up now and then, and return what may be claimed."""
        now = time.monotonic()
        self._left_alone = {id: until for id, until in self._left_alone.items() if until > now}
        waiting = self._poll(now)
        self._answered()
        if waiting.requests != self._known or now - self._entered >= ENTER_SECONDS:
            self._known, self._entered = waiting.requests if self._enter() else -1, now
            waiting = self._poll(now)
        if now - self._tidied >= TIDY_SECONDS:
            self._tidied = now if self._tidy() else -1e9
        return waiting

    def _poll(self, now: float) -> Waiting:
        """Return what may be claimed, without what nobody could begin now: a few of that would hide all the rest."""
        busy = [graph for graph, (_, until) in self._busy.items() if until > now]
        return self._queue.poll(graphs=self._settings.graphs, skip=self._left_alone, busy=busy)

    def claim_first(self, waiting: Iterable[tuple[Key, str | None]]) -> Claim | None:
        """Claim the first of some requests that can be claimed now.

        A graph that is passed over as busy stays so to the end. Otherwise, after a claim that took seconds, a later
        request for it could pass an earlier one.
        """
        busy = set[str]()
        for id, graph in waiting:
            if graph is not None and self._busy.get(graph, (0.0, 0.0))[1] > time.monotonic():
                busy.add(graph)
            if id in self._left_alone or graph in busy:
                continue
            claim = self._claim(id)
            self._answered()
            if claim is not None:
                return claim
        return None

    def note(self, graph: str, busy: bool) -> None:
        """Note that a graph was found busy, or not: other requests for it would only wait as well."""
        if not busy:
            self._busy.pop(graph, None)
            return
        now = time.monotonic()
        since, _ = self._busy.get(graph, (now, now))
        self._busy[graph] = since, now + min(BUSY_WAIT, max(LEAST_BUSY_WAIT, now - since))

    def _enter(self) -> bool:
        """Enter new requests, in batches without those that others' transactions hold; return whether all are in.

        However many there are, requests that wait are worked on in between.
        """
        until, most, limit, held = time.monotonic() + SLICE_SECONDS, BATCH, BATCH, 0
        while held < MOST_HELD:
            self._refuse_excess()
            try:
                if self._queue.enter(limit, skip=held) < limit:
                    break
                limit = min(10 * limit, most)
            except (BusyError, DatabaseError) as error:
                raise_outage(error)
                if limit == BATCH:
                    log_event("entering fewer at once", level=logging.WARNING, why=error)
                held += limit == 1
                most, limit = max(limit // 10, 1), 1
            if time.monotonic() > until:
                return False
        return True

    def _refuse_excess(self) -> None:
        if time.monotonic() < self._not_refused_until:
            return
        try:
            while refused := self._queue.refuse_excess(self._settings.max_waiting):
                log_event("refused", requests=refused, why="too many wait")
        except (BusyError, DatabaseError) as error:  # someone's transaction holds one of them
            raise_outage(error)
            log_event("not refused yet", level=logging.WARNING, why=error)
            self._not_refused_until = time.monotonic() + LONGEST_WAIT

    def _tidy(self) -> bool:
        """Delete answers that are no longer kept; return False if there are more to delete."""
        seconds, keep = self._settings.keep_days * 86_400, self._settings.keep_answers
        until = time.monotonic() + SLICE_SECONDS
        try:
            with lock_patience(TIDY_PATIENCE):
                while deleted := self._queue.delete_answers(seconds, keep):
                    log_event("removed old answers", answers=deleted)
                    if time.monotonic() > until:
                        return False
        except (BusyError, DatabaseError) as error:  # someone's transaction holds one of them
            raise_outage(error)
            log_event("old answers not removed yet", level=logging.WARNING, why=error)
        return True

    def _claim(self, id: Key) -> Claim | None:
        try:
            claim = self._queue.claim(id, self._name)
        except BusyError as error:  # someone else's transaction holds it
            self._leave_alone(id, error)
        except Exception as error:  # noqa: BLE001 - nothing that a request says may keep others from being answered
            raise_outage(error)
            self._set_aside(id, error)
        else:
            self._troubles.pop(id, None)
            return claim
        return None

    def _leave_alone(self, id: Key, why: Exception) -> None:
        log_event("left alone", level=logging.WARNING, request=id, why=why)
        self._left_alone[id] = time.monotonic() + LONGEST_WAIT

    def _set_aside(self, id: Key, error: Exception) -> None:
        """Let a request that cannot be claimed fail, unless the trouble is the database's and may pass."""
        self._troubles[id] += 1
        if isinstance(error, DatabaseError) and self._troubles[id] < ATTEMPTS:
            self._leave_alone(id, error)
            return
        del self._troubles[id]
        log_event("set aside", level=logging.ERROR, request=id, why=error_text(error))
        try:
            self._queue.refuse([id], f"This request could not be taken. {sentence_of(error)}")
        except (BusyError, DatabaseError) as trouble:
            raise_outage(trouble)
            self._leave_alone(id, trouble)
