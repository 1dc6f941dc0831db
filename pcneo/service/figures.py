"""What a service has done since it began, in figures, and whether it is well."""

from __future__ import annotations

import math
import threading
import time
from bisect import bisect_left
from collections import Counter, defaultdict

from pcneo.annotate.writing import WriteResult
from pcneo.service.request_checks import COMMANDS

BOUNDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, math.inf)
"""The upper bounds of the buckets, in seconds."""

SILENT_SECONDS = 30.0
"""After this long without an answer to a poll, an unbroken connection is not a sign of health."""


class Figures:
    """Counts that only grow; written by the worker, read when the metrics are asked for.

    Attributes:
        answered: requests by status, and those given back as `returned`.
        memberships: how many were written.
        starting: whether the service is still being made ready, and has not asked the database yet.
        reachable: whether the database answered when it was last asked.
        waiting_for: graphs that the service should answer for, but that the database does not have yet.
    """

    def __init__(self) -> None:
        """Begin at zero."""
        self.answered: Counter[str] = Counter()
        self.memberships = 0
        self.starting = False
        self.reachable = False
        self.waiting_for: tuple[str, ...] = ()
        self._answered_at: float | None = None
        self._seconds: defaultdict[tuple[str, str], Counter[float]] = defaultdict(Counter)
        self._totals: defaultdict[tuple[str, str], float] = defaultdict(float)
        self._use = threading.Lock()

    def note_answer(self) -> None:
        """Note that the database has just answered."""
        self.starting, self.reachable, self._answered_at = False, True, time.monotonic()

    def note_break(self) -> None:
        """Note that the connection has just broken, whether or not the work is then repeated."""
        self.starting = self.reachable = False

    @property
    def silence(self) -> float | None:
        """Seconds since the database last answered a poll; None where it never has."""
        return None if self._answered_at is None else time.monotonic() - self._answered_at

    def health(self) -> tuple[bool, str]:
        """Return whether the last poll was answered, and a line that says how long ago that was."""
        if self.starting:
            return False, "starting: the search is compiled first, for up to half a minute"
        silence = self.silence
        if silence is None:
            return False, "the database does not answer"
        if not self.reachable:
            return False, f"the database does not answer; it last did {silence:.1f} s ago"
        if silence < SILENT_SECONDS:
            return True, f"ok: the database answered {silence:.1f} s ago" + self._waiting()
        return False, f"no contact for {silence:.1f} s: either the database hangs, or this process does"

    def _waiting(self) -> str:
        graphs = ", ".join(map(ascii, self.waiting_for))
        return f"; no graph is named {graphs} yet, so nothing can be done for it" if graphs else ""

    def add_update(self, command: str, result: WriteResult) -> None:
        """Add what one update wrote, and how long it took; `command` is `update` where no request asked for it."""
        with self._use:
            self._add(command, "read", result.pre_processing_millis / 1000)
            self._add(command, "search", result.compute_millis / 1000)
            self._add(command, "write", result.write_millis / 1000)
            self.memberships += sum(run.memberships_written for run in result.runs)

    def add_request(self, command: object, outcome: str, seconds: float) -> None:
        """Add a request that was worked on; its command is as its author wrote it."""
        with self._use:
            self.answered[outcome] += 1
            self._add(command if isinstance(command, str) and command in COMMANDS else "other", "request", seconds)

    def ends(self) -> list[tuple[str, int]]:
        """Return how many requests ended in each way, sorted by its name."""
        with self._use:
            return sorted(self.answered.items())

    def durations(self) -> list[tuple[tuple[str, str], tuple[list[tuple[str, float]], float]]]:
        """Return, by command and stage, how many took no longer than each bound, and the sum of all, in seconds."""
        with self._use:
            return [(place, (_cumulated(self._seconds[place]), self._totals[place])) for place in sorted(self._seconds)]

    def _add(self, command: str, stage: str, seconds: float) -> None:
        self._seconds[command, stage][BOUNDS[bisect_left(BOUNDS, seconds)]] += 1
        self._totals[command, stage] += seconds


def _cumulated(numbers: Counter[float]) -> list[tuple[str, float]]:
    """Return Prometheus's buckets, the last of which counts all."""
    texts = [str(bound) if bound < math.inf else "+Inf" for bound in BOUNDS]
    return [(text, sum(numbers[bound] for bound in BOUNDS[: i + 1])) for i, text in enumerate(texts)]
