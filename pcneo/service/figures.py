"""What a service has done since it began, in figures; and these, with those of the requests, in Prometheus's format."""

from __future__ import annotations

import math
import threading
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pcneo.annotate.writing import WriteResult
from pcneo.errors import ConnectionFailedError, PcneoError
from pcneo.service.request_checks import COMMANDS
from pcneo.store.requests import STATUSES, RequestQueue
from pcneo.store.waiting import patient_until

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from pcneo.service.serving import Service

BOUNDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, math.inf)
"""The upper bounds of the buckets, in seconds."""

SILENT_SECONDS = 30.0
"""After this long without an answer to a poll, an unbroken connection is not a sign of health."""
ANSWER_SECONDS = 2.0
"""How long to wait for the database; Prometheus gives up after ten seconds, and then has no figures at all."""

_Requests = dict[str, tuple[int, int]]


class Figures:
    """Counts that only grow; written by the worker, read when the metrics are asked for.

    Attributes:
        answered: requests by status, and those given back as `returned`.
        memberships: how many were written.
        starting: whether the service is still being made ready, and has not asked the database yet.
        reachable: whether the database answered when it was last asked.
    """

    def __init__(self) -> None:
        """Begin at zero."""
        self.answered: Counter[str] = Counter()
        self.memberships = 0
        self.starting = False
        self.reachable = False
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
            return True, f"ok: the database answered {silence:.1f} s ago"
        return False, f"no contact for {silence:.1f} s: either the database hangs, or this process does"

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


class Metrics:
    """What `/metrics` shows, collected when it is asked for; prometheus-client calls it a collector."""

    def __init__(self, service: Service) -> None:
        """Prepare to show the figures of a service."""
        self._service = service
        self._asking: threading.Thread | None = None
        self._asked: RequestQueue | None = None

    def collect(self) -> Iterator[Metric]:
        """Yield every family of metrics; those of requests only while the database answers."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        figures, (reachable, requests) = self._service.figures, self._requests()
        if not figures.starting:  # before the first poll nobody knows; the alert waits for two minutes
            yield GaugeMetricFamily(
                "pcneo_database_reachable", "Whether the database answered the last poll.", value=int(reachable)
            )
        if figures.silence is not None:
            yield GaugeMetricFamily(
                "pcneo_silence_seconds", "Seconds since the database last answered a poll.", value=figures.silence
            )
        if requests is not None:
            numbers = GaugeMetricFamily("pcneo_requests", "Requests in the database.", labels=["status"])
            for status in STATUSES:
                numbers.add_metric([status], requests.get(status, (0, 0))[0])
            yield numbers
            yield GaugeMetricFamily(
                "pcneo_oldest_request_seconds",
                "Seconds since the oldest waiting request was created.",
                value=requests.get("requested", (0, 0))[1],
            )
        worked = CounterMetricFamily("pcneo_worked_requests", "Requests that this service worked on.", labels=["end"])
        for end, number in figures.ends():
            worked.add_metric([end], number)
        yield worked
        seconds = HistogramMetricFamily(
            "pcneo_stage_seconds", "Seconds of requests and updates, by stage.", labels=["command", "stage"]
        )
        for (command, stage), (buckets, total) in figures.durations():
            seconds.add_metric([command, stage], buckets, total)
        yield seconds
        yield CounterMetricFamily("pcneo_memberships_written", "Memberships written.", value=figures.memberships)

    def _requests(self) -> tuple[bool, _Requests | None]:
        """Return whether the database answers, and the requests in it, None if they do not arrive in time.

        It is asked only if it answered the last poll, and in a separate thread: a server that has just gone may keep
        the caller waiting for half a minute.
        """
        queue, (reachable, _) = self._service.queue, self._service.figures.health()
        if queue is None or not reachable:
            return False, None
        if self._asking is not None and self._asking.is_alive() and self._asked is queue:  # no answer to the last yet
            return True, None
        answers: list[tuple[bool, _Requests | None]] = []
        self._asking = threading.Thread(
            target=lambda: answers.append(_ask(queue)), name="pcneo-metrics-question", daemon=True
        )
        self._asked = queue
        self._asking.start()
        self._asking.join(ANSWER_SECONDS)
        return answers[0] if answers else (True, None)


def _ask(queue: RequestQueue) -> tuple[bool, _Requests | None]:
    at_once = threading.Event()
    at_once.set()
    try:
        with patient_until(at_once):  # the next scrape is the second attempt
            return True, queue.count_requests()
    except ConnectionFailedError:
        return False, None
    except PcneoError:
        return True, None
