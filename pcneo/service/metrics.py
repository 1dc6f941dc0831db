"""The figures of a service and of the requests, in Prometheus's format."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pcneo.errors import ConnectionFailedError, PcneoError
from pcneo.store.requests import STATUSES, RequestQueue
from pcneo.store.waiting import patient_until

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from pcneo.service.serving import Service

ANSWER_SECONDS = 2.0
"""How long to wait for the database; Prometheus gives up after ten seconds, and then has no figures at all."""

_Requests = dict[str, tuple[int, int]]


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
        if not figures.starting:  # before the first poll it is not known yet; the alert waits for two minutes
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
