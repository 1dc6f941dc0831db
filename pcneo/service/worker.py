"""One worker: requests are entered into the queue, claimed, worked on, and answered or given back.

Nothing that a request says can end it, and nothing that happens to it stays unsaid: each request ends with an answer.
"""

from __future__ import annotations

import logging
import os
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable

from pcneo.basics.model import Key
from pcneo.errors import (
    AnswerError,
    BusyError,
    ConnectionFailedError,
    DatabaseError,
    GraphChangedError,
    KeyPropertyError,
    PcneoError,
    RightsError,
    SchemaError,
    StoreFormatError,
)
from pcneo.service.events import tell
from pcneo.service.figures import Figures
from pcneo.service.lease import CancelledError, EndingError, Lease
from pcneo.service.request_checks import Question, check_request
from pcneo.service.service_settings import ServiceSettings
from pcneo.service.work import Work
from pcneo.store.requests import BATCH, LEASE_SECONDS, Answer, Claim, LostClaimError, RequestQueue
from pcneo.store.waiting import BLOCKED_SECONDS, BlockedError, lock_patience, patient_until

__all__ = ["Worker"]

ATTEMPTS = 3
BUSY_SECONDS = 86_400
"""How long a request may wait for others."""
LONGEST_WAIT = 30.0
"""How long a request is left alone at most before it is tried again."""
ENTER_SECONDS = 3.0
"""How often requests without a status are looked for where their number does not show that there are new ones."""
SLICE_SECONDS = 10.0
"""How long new requests are entered, or old answers deleted, before a request is worked on."""
MOST_HELD = 10
"""New requests that somebody's transactions hold, beyond which one waits until they let go."""
TIDY_SECONDS = 60.0
"""How often old answers are deleted."""
TRIM_SECONDS = 30.0
"""How often earlier versions are let go after requests for single vertices, which it would make twice as long."""
WAITED_BEFORE_SECONDS = 2.0
"""How long somebody's lock is waited for by a request that has been given back for one."""
LONGEST_MESSAGE = 500

HOPELESS = (RightsError, SchemaError, StoreFormatError)
"""Errors of the database that a second attempt does not help."""


class Worker:
    """Answers the requests of one database, one at a time.

    Attributes:
        name: of host and process.
    """

    def __init__(self, queue: RequestQueue, settings: ServiceSettings, figures: Figures) -> None:
        """Prepare; nothing is asked yet."""
        self.name = f"{socket.gethostname()}:{os.getpid()}"
        self._queue = queue
        self._settings = settings
        self._figures = figures
        self._known = -1
        self._entered = self._tidied = self._not_refused_until = -1e9
        self._left_alone: dict[Key, float] = {}
        self._troubles: Counter[Key] = Counter()
        self._trimmed: dict[str, float] = {}
        self._lease: Lease | None = None
        self._ending = threading.Event()

    @property
    def request(self) -> Key | None:
        """The identifier of the request under way, if there is one."""
        return None if (lease := self._lease) is None else lease.request

    def end(self) -> None:
        """Have the request under way given back, if there is one."""
        self._ending.set()
        if (lease := self._lease) is not None:
            lease.stop(EndingError("The service ends."))

    def step(self) -> bool:
        """Claim one request, if any waits, and work on it; return whether there was one.

        Raises:
            DatabaseError: the database could not be asked.
        """
        requests, waiting = self._queue.poll()
        now = time.monotonic()
        if requests != self._known or now - self._entered >= ENTER_SECONDS:
            self._known, self._entered = requests if self._enter() else -1, now
            requests, waiting = self._queue.poll()
        if now - self._tidied >= TIDY_SECONDS:
            self._tidied = now if self._tidy() else -1e9
        self._left_alone = {id: until for id, until in self._left_alone.items() if until > now}
        for id in waiting:
            if id not in self._left_alone and (claim := self._claim(id)) is not None:
                self._work_on(claim)
                return True
        return False

    def _enter(self) -> bool:
        """Enter new requests, as many at once as will go beside what somebody's transactions hold; whether all are in.

        However many there are, one that waits is worked on in between.
        """
        until, most, limit, held = time.monotonic() + SLICE_SECONDS, BATCH, BATCH, 0
        while held < MOST_HELD:
            self._refuse_excess()
            try:
                if not self._queue.enter(limit, skip=held):
                    break
                limit = min(10 * limit, most)
            except ConnectionFailedError:
                raise
            except (BusyError, DatabaseError) as error:
                if limit == BATCH:
                    tell("entering fewer at once", level=logging.WARNING, why=error)
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
                tell("refused", requests=refused, why="too many wait")
        except ConnectionFailedError:
            raise
        except (BusyError, DatabaseError) as error:  # somebody's transaction holds one of them
            tell("not refused yet", level=logging.WARNING, why=error)
            self._not_refused_until = time.monotonic() + LONGEST_WAIT

    def _tidy(self) -> bool:
        """Delete answers that are kept no longer; return False if more of them can go at once."""
        seconds, keep = self._settings.keep_days * 86_400, self._settings.keep_answers
        until = time.monotonic() + SLICE_SECONDS
        try:
            with lock_patience(WAITED_BEFORE_SECONDS):
                while deleted := self._queue.delete_answers(seconds, keep):
                    tell("forgot", answers=deleted)
                    if time.monotonic() > until:
                        return False
        except ConnectionFailedError:
            raise
        except (BusyError, DatabaseError) as error:  # somebody's transaction holds one of them
            tell("not forgotten yet", level=logging.WARNING, why=error)
        return True

    def _claim(self, id: Key) -> Claim | None:
        try:
            claim = self._queue.claim(id, self.name)
        except ConnectionFailedError:
            raise
        except BusyError as error:  # somebody else's transaction holds it
            self._leave_alone(id, error)
        except Exception as error:  # noqa: BLE001 - whatever a request says must not keep others from being answered
            self._set_aside(id, error)
        else:
            self._troubles.pop(id, None)
            return claim
        return None

    def _leave_alone(self, id: Key, why: Exception) -> None:
        tell("left alone", level=logging.WARNING, request=id, why=why)
        self._left_alone[id] = time.monotonic() + LONGEST_WAIT

    def _set_aside(self, id: Key, error: Exception) -> None:
        """Let a request fail that cannot be claimed; but what the database is troubled by may pass."""
        self._troubles[id] += 1
        if isinstance(error, DatabaseError) and self._troubles[id] < ATTEMPTS:
            self._leave_alone(id, error)
            return
        del self._troubles[id]
        tell("set aside", level=logging.ERROR, request=id, error=repr(error))
        try:
            self._queue.refuse([id], f"This request could not be taken. {_sentence(error)}")
        except ConnectionFailedError:
            raise
        except (BusyError, DatabaseError) as trouble:
            self._leave_alone(id, trouble)

    def _work_on(self, claim: Claim) -> None:
        started = time.monotonic()
        tell("claimed", request=claim.id, attempt=claim.attempts, command=claim.values["command"])
        try:
            outcome, message = self._outcome(claim)
        except LostClaimError:
            outcome, message = "lost", "another service has it, or it is gone"
        except BusyError as error:  # somebody's transaction holds the request itself
            outcome, message = "left", f"its lease runs out, and a service takes it again: {error}"
        seconds = time.monotonic() - started
        self._figures.add_request(claim.values["command"], outcome, seconds)
        tell(outcome, request=claim.id, seconds=seconds, message=message)

    def _outcome(self, claim: Claim) -> tuple[str, str]:
        """Work on a request until it is answered or given back; return what became of it, and a message."""
        if claim.cancel:
            return self._finish(claim, "cancelled", "Cancelled before it was begun.")
        if claim.attempts > ATTEMPTS:
            return self._finish(
                claim, "failed", f"Given up: {ATTEMPTS} attempts ended with the service that made them, unanswered."
            )
        lease: Lease | None = None
        try:
            known = [record.name for record in self._queue.db.list_graphs()] if claim.values["graph"] is None else ()
            question = check_request(claim, self._settings, known)
            lease = Lease(self._queue, claim, max(1, len(question.options.searches)))
            with lease, patient_until(lease.stopping), lock_patience(self._patience(claim)):
                self._lease = lease
                if self._ending.is_set():
                    self.end()
                answer = Work(
                    self._queue, self._settings, claim, question, lease, self._figures, self._is_to_trim(question)
                ).do()
                return answer.status, answer.message
        except LostClaimError:
            raise
        except Exception as error:
            if lease is None:
                return self._after(claim, error, 0.0)
            if isinstance(error, BusyError) and isinstance(lease.stopped, LostClaimError):
                raise lease.stopped from error
            stopped = lease.stopped if isinstance(error, BusyError) else None  # it was stopped while it waited
            return self._after(claim, stopped or error, lease.progress)
        finally:
            self._lease = None

    def _patience(self, claim: Claim) -> float:
        """How long the work may wait for somebody's lock: less where it has waited before, lest it stop the others."""
        return WAITED_BEFORE_SECONDS if claim.busy else BLOCKED_SECONDS

    def _is_to_trim(self, question: Question) -> bool:
        """Whether versions are let go after this request: always after whole graphs, seldom after single vertices."""
        now, graph = time.monotonic(), question.options.graph or ""
        if question.options.vertices is not None and now - self._trimmed.get(graph, -TRIM_SECONDS) < TRIM_SECONDS:
            return False
        self._trimmed[graph] = now
        return True

    def _after(self, claim: Claim, error: Exception, progress: float) -> tuple[str, str]:
        message = _sentence(error)
        if isinstance(error, EndingError):
            return self._give_back(claim, message, attempts=claim.attempts - 1)
        if isinstance(error, CancelledError):
            return self._finish(claim, "cancelled", message, progress)
        if isinstance(error, BusyError | GraphChangedError):
            if claim.busy > BUSY_SECONDS:
                return self._finish(claim, "failed", f"Given up after a day. {message}", progress)
            wait = min(LONGEST_WAIT, max(0.5, claim.busy)) * random.uniform(0.6, 1.0)  # noqa: S311 - spreads services
            return self._give_back(claim, message, wait=wait, attempts=claim.attempts - 1, busy=True)
        if isinstance(error, PcneoError) and (not isinstance(error, DatabaseError) or isinstance(error, HOPELESS)):
            return self._finish(claim, "failed", message, progress)
        tell("attempt failed", level=logging.ERROR, request=claim.id, error=repr(error))
        if claim.attempts >= ATTEMPTS:
            return self._finish(claim, "failed", f"Given up after {ATTEMPTS} attempts. {message}", progress)
        return self._give_back(claim, message, wait=2.0**claim.attempts, attempts=claim.attempts)

    def _finish(self, claim: Claim, status: str, message: str, progress: float = 0.0) -> tuple[str, str]:
        self._persistently(lambda: self._queue.finish(claim, Answer(status, message), progress))
        return status, message

    def _give_back(
        self, claim: Claim, message: str, *, wait: float = 0.0, attempts: int, busy: bool = False
    ) -> tuple[str, str]:
        self._persistently(lambda: self._queue.give_back(claim, message, wait=wait, attempts=attempts, busy=busy))
        return "returned", message

    def _persistently(self, action: Callable[[], None]) -> None:
        """Do it, again and again while the claim may count; after that the next worker finds the lease run out."""
        until, pause = time.monotonic() + LEASE_SECONDS - 5, 0.5
        while True:
            try:
                return action()
            except (LostClaimError, BlockedError):  # whoever holds the request keeps others from it, too
                raise
            except (BusyError, DatabaseError):
                if time.monotonic() > until or self._ending.is_set():
                    raise
            time.sleep(pause)
            pause = min(2 * pause, 5.0)


def _sentence(error: Exception) -> str:
    """Return what the author of a request may read: no key but those that were asked for, and no more than fits."""
    if isinstance(error, KeyPropertyError):
        return "Keys of this graph are missing, repeated, or of kinds that cannot be keys. The service's log has more."
    if isinstance(error, GraphChangedError):
        return "The graph changed while it was read."
    if isinstance(error, AnswerError):
        return "An answer failed its own check, which is a fault in pcneo. The service's log has more."
    if not isinstance(error, PcneoError):
        return f"The service failed with {type(error).__name__}. Its log has more."
    text = str(error)
    return text if len(text) <= LONGEST_MESSAGE else text[:LONGEST_MESSAGE] + "…"
