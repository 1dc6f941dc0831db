"""Two lanes of one service: requests for single vertices are worked on beside one for a whole graph.

The service's own thread looks at the queue and hands out claims; the only requests that it works on itself are those
cancelled before they were begun. So however long a request takes, the next one of the other lane is begun.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable
from contextlib import nullcontext

from pcneo.basics.model import Key
from pcneo.errors import ConnectionFailedError
from pcneo.service.desk import Desk
from pcneo.service.events import error_text, log_event
from pcneo.service.figures import Figures
from pcneo.service.lease import EndingError
from pcneo.service.schedule import Schedule
from pcneo.service.service_settings import ServiceSettings
from pcneo.service.worker import Worker
from pcneo.store.lending import Lending
from pcneo.store.requests import Claim, RequestQueue
from pcneo.store.statements import kept_plans
from pcneo.store.waiting import patient_until


class _Lane:
    """Does one piece of work at a time, in its own thread."""

    def __init__(
        self, name: str, what_for: str, worker: Worker, ending: threading.Event, over: Callable[[], object]
    ) -> None:
        self.worker = worker
        self.is_free = True
        self._name = name
        self._for = what_for
        self._ending = ending
        self._over = over
        self._thread: threading.Thread | None = None

    def begin(self, work: Callable[[], object]) -> None:
        self.is_free = False
        self._thread = threading.Thread(target=self._do, args=(work,), name=f"pcneo-{self._name}")
        self._thread.start()

    def _do(self, work: Callable[[], object]) -> None:
        try:
            with patient_until(self._ending):
                work()
        except Exception as error:  # noqa: BLE001 - the other lane goes on; the desk sees whether the database answers
            what = "lost the database" if isinstance(error, ConnectionFailedError) else "failed"
            log_event(f"the worker for {self._for} {what}", level=logging.ERROR, why=error_text(error))
        finally:
            self.is_free = True
            self._over()

    def join(self) -> None:
        if self._thread is not None:
            self._thread.join()


class Lanes:
    """Hands out what waits in the queue of one database, until the service must end.

    Attributes:
        name: host and process.
        woken: set when a lane has become free, so that the next step need not wait.
    """

    def __init__(
        self, queue: RequestQueue, settings: ServiceSettings, figures: Figures, ending: threading.Event
    ) -> None:
        """Prepare without asking the database."""
        self.name = f"{socket.gethostname()}:{os.getpid()}"
        self.woken = threading.Event()
        self._ending = ending
        self._desk = Desk(queue, settings, self.name, figures.note_answer)
        lending = Lending()

        def worker() -> Worker:
            return Worker(queue, settings, figures, lending, self._desk.note)

        self._canceller = worker()
        self._small = _Lane("small", "single vertices", worker(), ending, self.woken.set)
        self._large = _Lane("large", "whole graphs", worker(), ending, self.woken.set)
        self._schedule = Schedule(queue, settings, figures, self._progress, lending)

    @property
    def requests(self) -> list[Key]:
        """The identifiers of the requests under way."""
        under_way = (self._small.worker.request, self._large.worker.request)
        return [request for request in under_way if request is not None]

    def step(self) -> bool:
        """Begin what can be begun; return whether any request waits or is worked on."""
        self.woken.clear()
        waiting = self._desk.look()
        for id, _ in waiting.cancelled:
            if (claim := self._desk.claim_first([(id, None)])) is not None:
                self._canceller.cancel(claim)
        for lane, ids in ((self._small, waiting.small), (self._large, waiting.large)):
            if lane.is_free and not self._ending.is_set() and (claim := self._desk.claim_first(ids)) is not None:
                self._begin(lane, claim)
        if self._large.is_free and self._schedule.is_due():
            self._large.begin(self._schedule.step)
        return waiting.open

    def _begin(self, lane: _Lane, claim: Claim) -> None:
        def work() -> None:
            keeps = lane is self._small and claim.values["command"] == "annotate"
            with kept_plans() if keeps else nullcontext():
                lane.worker.work_on(claim)
            if lane is self._large and not self._ending.is_set():
                self._schedule.step()

        lane.begin(work)

    def end(self) -> None:
        """Have the requests under way given back."""
        self._small.worker.end()
        self._large.worker.end()

    def close(self) -> None:
        """Wait for the requests under way; if the service is not ending, they are given back first."""
        if not self._ending.is_set():
            self.end()
        self._small.join()
        self._large.join()

    def _progress(self, *_: object) -> None:
        """Stop an update that no request asked for once the service must end: the next look makes up for it."""
        if self._ending.is_set():
            raise EndingError("The service was stopped.")
