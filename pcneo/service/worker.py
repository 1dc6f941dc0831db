"""One worker: a claimed request is worked on, and answered or given back.

Nothing that a request says can end the worker, and no request ends without an answer, whatever happens to it.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pcneo.basics.model import Key
from pcneo.basics.stopping import stoppable
from pcneo.errors import (
    AnswerError,
    BusyError,
    DatabaseError,
    GraphChangedError,
    KeyPropertyError,
    PcneoError,
    RightsError,
    SchemaError,
    StoreFormatError,
)
from pcneo.service.events import error_text, log_event
from pcneo.service.figures import Figures
from pcneo.service.lease import CancelledError, EndingError, Lease
from pcneo.service.request_checks import MOST_P, Question, check_request
from pcneo.service.service_settings import ServiceSettings
from pcneo.service.work import Work
from pcneo.store.lending import Lending
from pcneo.store.requests import LEASE_SECONDS, Answer, Claim, LostClaimError, RequestQueue
from pcneo.store.waiting import BLOCKED_SECONDS, BlockedError, lock_patience, patient_until

ATTEMPTS = 3
BUSY_SECONDS = 86_400
"""How long a request may wait for others."""
LONGEST_WAIT = 30.0
"""The longest time that a request is left alone before it is tried again."""
TRIM_SECONDS = 30.0
"""How often earlier versions are let go after requests for single vertices, which would take twice as long."""
WAITED_BEFORE_SECONDS = 2.0
"""Once a lock has sent a request back, it waits only this long for the next one, so that other requests are not
held up."""
LONGEST_MESSAGE, LONGEST_NAME = 500, 100
"""The most characters of an answer, and of a property in the log."""

HOPELESS = (RightsError, SchemaError, StoreFormatError)
"""Database errors that a second attempt does not cure."""


class Worker:
    """Works on claimed requests, one at a time."""

    def __init__(
        self,
        queue: RequestQueue,
        settings: ServiceSettings,
        figures: Figures,
        lending: Lending,
        note: Callable[[str, bool], object],
    ) -> None:
        """Prepare without asking the database."""
        self._queue = queue
        self._settings = settings
        self._figures = figures
        self._lending = lending
        self._note = note
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
            lease.stop(EndingError("The service was stopped."))

    def cancel(self, claim: Claim) -> None:
        """Answer a request that its author cancelled before it was begun; nothing else is done here."""
        if claim.cancel:
            self.work_on(claim)
        else:  # it must go on after all
            with suppress(BusyError):
                self._give_back(claim, "", attempts=claim.attempts - 1, busy=claim.busy > 0)

    def work_on(self, claim: Claim) -> None:
        """Work on a request until it is answered or given back."""
        started = time.monotonic()
        log_event("claimed", **_wanted(claim), attempt=claim.attempts, command=claim.values["command"])
        try:
            outcome, message = self._outcome(claim)
        except LostClaimError:
            outcome, message = "lost", "another service has it, or it is gone"
        except (BusyError, DatabaseError) as error:  # someone holds the request itself, or no database answers
            outcome, message = "left", f"not finished; a service will take it up again shortly: {error}"
        seconds = time.monotonic() - started
        self._figures.add_request(claim.values["command"], outcome, seconds)
        level = logging.WARNING if outcome == "failed" else logging.INFO
        log_event(outcome, level=level, **_wanted(claim), seconds=round(seconds, 3), message=message)

    def _outcome(self, claim: Claim) -> tuple[str, str]:
        """Work on a request until it is answered or given back; return what became of it, and a message."""
        if claim.cancel:
            return self._finish(claim, "cancelled", "Cancelled before it was begun.")
        if claim.attempts > ATTEMPTS:
            return self._finish(
                claim, "failed", f"Given up: {ATTEMPTS} attempts ended unanswered, each along with its service."
            )
        lease: Lease | None = None
        try:
            known = [record.name for record in self._queue.db.list_graphs()] if claim.values["graph"] is None else ()
            question = check_request(claim, self._settings, known)
            lease = Lease(self._queue, claim, max(1, len(question.p)))
            patience = lock_patience(WAITED_BEFORE_SECONDS if claim.busy else BLOCKED_SECONDS)
            with lease, patient_until(lease.stopping), stoppable(lease.flag), patience:
                self._lease = lease
                if self._ending.is_set():
                    self.end()
                opens = self._lending.holding if question.vertices is None else self._lending.beside
                trims = self._is_to_trim(question)
                work = Work(self._queue, self._settings, claim, question, lease, self._figures, opens, trims)
                answer = work.do()
                if question.graph is not None:
                    self._note(question.graph, False)
                return answer.status, answer.message
        except LostClaimError:
            raise
        except Exception as error:
            if lease is None:
                return self._after(claim, error, 0.0)
            if lease.answer is not None:
                return lease.answer.status, lease.answer.message
            if isinstance(lease.stopped, LostClaimError):
                raise lease.stopped from error
            return self._after(claim, lease.stopped or error, lease.progress)  # what stopped it made it fail
        finally:
            self._lease = None

    def _is_to_trim(self, question: Question) -> bool:
        """Whether versions are let go after this request: always after whole graphs, rarely after single vertices."""
        now, graph = time.monotonic(), question.graph or ""
        if question.vertices is not None and now - self._trimmed.get(graph, -TRIM_SECONDS) < TRIM_SECONDS:
            return False
        self._trimmed[graph] = now
        return True

    def _after(self, claim: Claim, error: Exception, progress: float) -> tuple[str, str]:
        message = sentence_of(error)
        if isinstance(error, EndingError):
            return self._give_back(claim, message, attempts=claim.attempts - 1, busy=claim.busy > 0)  # since when stays
        if isinstance(error, CancelledError):
            return self._finish(claim, "cancelled", message, progress)
        if isinstance(error, BusyError | GraphChangedError):
            if isinstance(error, BusyError) and isinstance(graph := error.data.get("graph"), str):
                self._note(graph, True)
            if claim.busy > BUSY_SECONDS:
                return self._finish(claim, "failed", f"Given up after a day. {message}", progress)
            wait = min(LONGEST_WAIT, max(0.5, claim.busy)) * random.uniform(0.6, 1.0)  # noqa: S311 - spreads services
            return self._give_back(claim, message, wait=wait, attempts=claim.attempts - 1, busy=True)
        if isinstance(error, PcneoError) and (not isinstance(error, DatabaseError) or isinstance(error, HOPELESS)):
            return self._finish(claim, "failed", message, progress)
        log_event("attempt failed", level=logging.ERROR, **_wanted(claim), why=error_text(error))
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
        """Do it, repeatedly while the claim may count; after that the next worker finds that the lease has run out."""
        until, pause = time.monotonic() + LEASE_SECONDS - 5, 0.5
        while True:
            try:
                return action()
            except (LostClaimError, BlockedError):  # the holder of the request keeps others from it too
                raise
            except (BusyError, DatabaseError):
                if time.monotonic() > until or self._ending.is_set():
                    raise
            time.sleep(pause)
            pause = min(2 * pause, 5.0)


def _wanted(claim: Claim) -> dict[str, Any]:
    """Return what each line of the log has about a request; what its author wrote may be of any length."""
    return {"request": claim.id, **{name: _shortened(claim.values[name]) for name in ("graph", "p", "by")}}


def _shortened(value: Any) -> Any:
    """Return a value, or the beginning of a long text or list."""
    begins = value[:MOST_P] if isinstance(value, list) else value
    text = begins if isinstance(begins, str) else str(begins)
    if len(text) <= LONGEST_NAME and begins == value:
        return value
    return text[:LONGEST_NAME] + "…"


def sentence_of(error: Exception) -> str:
    """Return what the author of a request may read: no keys except those that were asked for, and no more than fits."""
    if isinstance(error, KeyPropertyError):
        return "Some keys of this graph are missing, repeated or of unusable kinds. The service's log has the details."
    if isinstance(error, GraphChangedError):
        return "The graph changed while it was being read."
    if isinstance(error, AnswerError):
        return "An answer failed its own check, which is a fault in pcneo. The service's log has the details."
    if not isinstance(error, PcneoError):
        return f"The service failed with {type(error).__name__}. Its log has the details."
    text = str(error)
    return text if len(text) <= LONGEST_MESSAGE else text[:LONGEST_MESSAGE] + "…"
