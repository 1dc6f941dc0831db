"""`/metrics` for Prometheus and `/healthz` over HTTP; needs the extra `metrics`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from pcneo.errors import ParameterError, PcneoError, needs_extra

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from pcneo.service.serving import Service

__all__ = ["monitored", "parse_address"]

LOOPBACK = "127.0.0.1"


def parse_address(text: str) -> tuple[str, int]:
    """Return host and port of `HOST:PORT`, or of a port alone, which means the loopback address.

    Raises:
        ParameterError: there is no port from 0 to 65535; 0 stands for a free one.
    """
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 65_536):
        raise ParameterError(f"{text!r} is no address; give HOST:PORT.", name="metrics", value=text)
    return host.removeprefix("[").removesuffix("]") or LOOPBACK, int(port)


@contextmanager
def monitored(service: Service, address: str) -> Iterator[int]:
    """Answer `/metrics` and `/healthz` inside the block; yield the port.

    Raises:
        ParameterError: prometheus-client is not installed, or the address cannot be used.
    """
    host, port = parse_address(address)
    try:
        from prometheus_client import CollectorRegistry
        from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
    except ImportError as error:
        raise ParameterError(
            needs_extra("--metrics needs prometheus-client", "metrics"), name="metrics", value=address
        ) from error
    registry = CollectorRegistry()
    registry.register(_Collector(service))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/metrics":
                self._send(HTTPStatus.OK, CONTENT_TYPE_LATEST, generate_latest(registry))
            elif self.path == "/healthz":
                well = service.figures.reachable
                status = HTTPStatus.OK if well else HTTPStatus.SERVICE_UNAVAILABLE
                self._send(status, "text/plain", b"ok\n" if well else b"the database does not answer\n")
            else:
                self._send(HTTPStatus.NOT_FOUND, "text/plain", b"/metrics or /healthz\n")

        def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing; every scrape would be a line."""

    try:
        server = ThreadingHTTPServer((host, port), Handler)
    except OSError as error:
        raise ParameterError(
            f"--metrics cannot use {address}: {error.strerror}.", name="metrics", value=address
        ) from error
    with server:
        thread = threading.Thread(target=server.serve_forever, name="pcneo-metrics", daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


class _Collector:
    """The service's figures, and those of its requests in the database, in Prometheus's words."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        figures, requests = self._service.figures, self._requests()
        yield GaugeMetricFamily(
            "pcneo_database_reachable", "Whether the database answers.", value=int(requests is not None)
        )
        numbers = GaugeMetricFamily("pcneo_requests", "Requests in the database.", labels=["status"])
        for status in ("requested", "running", "complete", "failed", "cancelled"):
            numbers.add_metric([status], (requests or {}).get(status, (0, 0))[0])
        if requests is not None:
            yield numbers
            yield GaugeMetricFamily(
                "pcneo_oldest_request_seconds",
                "Age of the oldest request that waits.",
                value=requests.get("requested", (0, 0))[1],
            )
        worked = CounterMetricFamily("pcneo_worked_requests", "Requests that this service worked on.", labels=["end"])
        for end, number in sorted(figures.answered.items()):
            worked.add_metric([end], number)
        yield worked
        seconds = CounterMetricFamily("pcneo_seconds", "Seconds spent, by stage.", labels=["stage"])
        for stage, spent in figures.seconds.items():
            seconds.add_metric([stage], spent)
        yield seconds
        yield CounterMetricFamily("pcneo_memberships_written", "Memberships written.", value=figures.memberships)

    def _requests(self) -> dict[str, tuple[int, int]] | None:
        queue = self._service.queue
        try:
            return None if queue is None else queue.count_requests()
        except PcneoError:
            return None
