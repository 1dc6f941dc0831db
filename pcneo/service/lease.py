"""A claim kept alive while its request is worked on, and what stops it: cancellation, loss, or the service's end."""

from __future__ import annotations

import logging
import threading
import time

from pcneo.basics.stopping import new_flag
from pcneo.errors import PcneoError
from pcneo.store.requests import LEASE_SECONDS, Answer, Claim, LostClaimError, RequestQueue

WATCH_SECONDS = 0.5
"""How often the request is looked at while it is worked on."""
RENEW_SECONDS = LEASE_SECONDS / 3
"""How often the lease is renewed where there is no progress to record."""

log = logging.getLogger("pcneo.service")


class CancelledError(PcneoError):
    """The author of the request has cancelled it."""


class EndingError(PcneoError):
    """The service is ending, and this request has used up its grace."""


class Lease:
    """Context manager that keeps a claim while a request is worked on, and the work's `Progress` callback.

    The work calls it at least once per batch. It raises what stops the work, which then leaves nothing behind.

    Attributes:
        progress: the share of the work that is done.
        request: the request's identifier.
        stopped: what stops the work; None while nothing does.
        stopping: the event that is set then.
        flag: the same for kernels.
        answer: the answer to the request, if it was given before the end of the work.
    """

    def __init__(self, queue: RequestQueue, claim: Claim, parts: int = 1) -> None:
        """Watch over a claim."""
        self.progress = 0.0
        self.request = claim.id
        self._queue = queue
        self._claim = claim
        self._parts = parts
        self._searches: list[str] = []
        self.stopped: PcneoError | None = None
        self.stopping = threading.Event()
        self.flag = new_flag()
        self.answer: Answer | None = None
        self._is_noticed = False
        self._over = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="pcneo-lease", daemon=True)

    def __enter__(self) -> Lease:
        """Begin to watch."""
        self._keeper.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop watching; the claim counts until it is answered, given back, or runs out."""
        self.let_be()

    def let_be(self) -> None:
        """Stop watching, as the answer is on its way, and raise nothing from now on."""
        self._over.set()
        if self._keeper is not threading.current_thread():
            self._keeper.join()

    def stop(self, why: PcneoError) -> None:
        """Have the work stop at its next call of the progress callback, or at once where it waits for a lock."""
        self.stopped = self.stopped or why
        self.stopping.set()
        self.flag[0] = 1

    def check(self) -> None:
        """Raise what stops the work, if anything does."""
        if self.stopped is not None:
            self._is_noticed = True
            if not self._over.is_set():
                raise self.stopped

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Note how far the work is: reading counts for a tenth, and the searches share what is left."""
        self.check()
        share = done / total if total else 0.0
        if stage.startswith("searching"):
            if stage not in self._searches:
                self._searches.append(stage)
            parts = max(self._parts, len(self._searches))
            share = 0.1 + 0.85 * (self._searches.index(stage) + share) / parts
        elif stage.startswith("reading"):
            share *= 0.1
        else:
            return
        self.progress = max(self.progress, min(0.99, share))

    def _keep(self) -> None:
        renewed, stored = time.monotonic(), 0.0
        while not self._over.wait(WATCH_SECONDS):
            try:
                if self._queue.watch(self._claim):
                    self.stop(CancelledError("Cancelled, and nothing was left behind."))
                    if not self._is_noticed:  # a statement may run for as long as it likes
                        self._queue.terminate(self._claim.token)
                progress = self.progress
                if progress - stored >= 0.01 or time.monotonic() - renewed >= RENEW_SECONDS:
                    self._queue.renew(self._claim, progress)
                    renewed, stored = time.monotonic(), progress
            except LostClaimError as error:
                self.stop(error)
                return
            except PcneoError as error:
                log.debug("request %r could not be watched: %s", self._claim.id, error)
