"""`/metrics` for Prometheus and `/healthz` over HTTP, within limits; needs the extra `metrics`.

One thread holds all connections and another asks the database, however many clients there are. A connection serves one
request. It ends after some seconds, and the oldest ends at once if a new one would be too many, so clients that send
half a request and wait keep no one out.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import re
import resource
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from pcneo.errors import ParameterError, PcneoError, needs_extra
from pcneo.service.events import log_event
from pcneo.service.metrics import Metrics

if TYPE_CHECKING:
    from pcneo.service.serving import Service


LOOPBACK = "127.0.0.1"
MOST_CONNECTIONS = 64
"""At a time; fewer where the process may open only few files, since the database needs some too."""
TAKEN_AT_ONCE = 16
"""Connections that the system holds until they are accepted; as many are accepted before any is looked at."""
PATIENCE = 5.0
"""Seconds for a request to come in, and again for its answer to be sent."""
LONGEST_REQUEST = 16_384
"""The most bytes of a request with its headers."""
REQUEST = re.compile(rb"(GET|HEAD) ([^ ?]*)(?:\?[^ ]*)? HTTP/1\.[01]\r\n")


def parse_address(text: str) -> tuple[str, int]:
    """Return host and port of `HOST:PORT`, or of only a port, which means the loopback address."""
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 65_536):
        raise ParameterError(
            f"{text!r} is not a valid address; give HOST:PORT, or a port from 0 to 65535.", name="metrics", value=text
        )
    return host.removeprefix("[").removesuffix("]") or LOOPBACK, int(port)


@contextmanager
def monitored(service: Service, address: str) -> Iterator[int]:
    """Answer `/metrics` and `/healthz` inside the block; yield the port."""
    host, port = parse_address(address)
    try:
        from prometheus_client import CollectorRegistry
        from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
    except ImportError as error:
        raise ParameterError(
            needs_extra("--metrics needs prometheus-client", "metrics"), name="metrics", value=address
        ) from error
    registry = CollectorRegistry()
    registry.register(Metrics(service))
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=TAKEN_AT_ONCE)
        loop = asyncio.new_event_loop()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:  # it may be free again soon, so this must not look like a wrong argument
            raise PcneoError(f"--metrics cannot use {address}: another process listens there.") from error
        raise ParameterError(
            f"--metrics cannot use {address}: {error.strerror}.", name="metrics", value=address
        ) from error
    door = _Door(service.figures.health, lambda: generate_latest(registry), CONTENT_TYPE_LATEST)
    thread = threading.Thread(target=door.serve, args=(loop, listener), name="pcneo-metrics", daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        loop.call_soon_threadsafe(door.ending.set)
        thread.join()


class _Door:
    """The connections of one thread."""

    def __init__(self, health: Callable[[], tuple[bool, str]], collect: Callable[[], bytes], kind: str) -> None:
        self.ending = asyncio.Event()
        self._health = health
        self._collect = collect
        self._kind = kind
        self._open: dict[asyncio.Task[None], None] = {}  # oldest first
        self._most = min(MOST_CONNECTIONS, max(4, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4))
        self._collector = ThreadPoolExecutor(1, "pcneo-metrics")

    def serve(self, loop: asyncio.AbstractEventLoop, listener: socket.socket) -> None:
        """Answer until `ending` is set."""
        loop.set_exception_handler(_log_failure)
        try:
            loop.run_until_complete(self._serve(listener))
        finally:
            loop.close()
            self._collector.shutdown()

    async def _serve(self, listener: socket.socket) -> None:
        server = await asyncio.start_server(self._talk, sock=listener, limit=LONGEST_REQUEST, backlog=TAKEN_AT_ONCE)
        await self.ending.wait()
        server.close()
        for task in (left := asyncio.all_tasks() - {asyncio.current_task()}):
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await asyncio.sleep(0)  # transports that were just closed let go of their sockets in the loop's next round

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._open) >= self._most:
            self._open.pop(oldest := next(iter(self._open)))
            oldest.cancel()
        self._open[task := cast("asyncio.Task[None]", asyncio.current_task())] = None
        try:
            async with asyncio.timeout(PATIENCE):
                request = await reader.readuntil(b"\r\n\r\n")
            answer = await self._answer(request)
            writer.transport.set_write_buffer_limits(0)  # so that draining waits until everything is sent
            writer.write(answer)
            async with asyncio.timeout(PATIENCE):
                await writer.drain()
            writer.close()
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            pass  # the client's fault; it gets no answer
        finally:
            self._open.pop(task, None)
            if not writer.is_closing():
                writer.transport.abort()

    async def _answer(self, request: bytes) -> bytes:
        asked = REQUEST.match(request)
        if asked is None:
            return _http(HTTPStatus.BAD_REQUEST, b"GET /metrics or /healthz\n")
        method, path = asked.groups()
        if path == b"/metrics":
            figures = await asyncio.get_running_loop().run_in_executor(self._collector, self._collect)
            answer = _http(HTTPStatus.OK, figures, self._kind)
        elif path == b"/healthz":
            well, line = self._health()
            answer = _http(HTTPStatus.OK if well else HTTPStatus.SERVICE_UNAVAILABLE, f"{line}\n".encode("ascii"))
        else:
            answer = _http(HTTPStatus.NOT_FOUND, b"/metrics or /healthz\n")
        return answer if method == b"GET" else answer.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"


def _http(status: HTTPStatus, body: bytes, kind: str = "text/plain") -> bytes:
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode("ascii") + body


def _log_failure(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what went wrong with a connection, as when the process has no descriptor left; asyncio then waits."""
    why = context.get("exception") or context.get("message")
    log_event("metrics: a connection failed", level=logging.WARNING, why=repr(why))
