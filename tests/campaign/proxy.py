"""A way to a server that goes wrong: it delays, stops, drops or cuts the traffic after a number of bytes."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from dataclasses import dataclass
from typing import Self

__all__ = ["HARMS", "Harm", "Proxy"]

HARMS = ("delay", "trickle", "stall", "drop", "cut", "refuse")


@dataclass(frozen=True)
class Harm:
    """What goes wrong on the way.

    Attributes:
        kind: one of `HARMS`: each piece waits; pieces of a few bytes; nothing passes for a while, then all does;
            nothing passes any more, while the connection stays open; the connection ends in the middle of a message;
            likewise, and no other is let in.
        after: bytes that pass first, of those from the server.
        seconds: of a delay, or until a stall is over.
    """

    kind: str
    after: int
    seconds: float = 0.0


class Proxy:
    """A context manager that listens on a port of its own and passes everything on, until something goes wrong."""

    def __init__(self, uri: str, harm: Harm) -> None:
        """Listen; nothing is passed on before the block begins."""
        self._port = int(uri.rpartition(":")[2])
        self._harm = harm
        self._passed = 0
        self._stalled = False
        self._over = threading.Event()
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.1)
        self._threads = [threading.Thread(target=self._listen, daemon=True)]

    @property
    def uri(self) -> str:
        """Its address."""
        return f"bolt://127.0.0.1:{self._listener.getsockname()[1]}"

    @property
    def has_harmed(self) -> bool:
        """Whether so much has passed that something has gone wrong."""
        return self._passed >= self._harm.after

    def __enter__(self) -> Self:
        """Let connections in."""
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        """End all connections."""
        self._over.set()
        self._listener.close()
        for endpoint in self._sockets:
            _close(endpoint)
        for thread in self._threads:
            thread.join(10)

    def _listen(self) -> None:
        while not self._over.is_set():
            try:
                client, _ = self._listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            if self.has_harmed and self._harm.kind == "refuse":
                _close(client)
                continue
            server = socket.create_connection(("127.0.0.1", self._port))
            self._sockets += [client, server]
            for source, target, counts in ((client, server, False), (server, client, True)):
                thread = threading.Thread(target=self._pass_on, args=(source, target, counts), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _pass_on(self, source: socket.socket, target: socket.socket, counts: bool) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(8192):
                before = self._passed
                self._passed += len(piece) if counts else 0
                if not self.has_harmed:
                    target.sendall(piece)
                elif self._harm.kind in ("cut", "refuse"):
                    if before < self._harm.after:
                        target.sendall(piece[: self._harm.after - before])
                        break
                    if self._harm.kind == "refuse":
                        break
                    target.sendall(piece)
                else:
                    self._harmed(target, piece)
        _close(source)
        _close(target)

    def _harmed(self, target: socket.socket, piece: bytes) -> None:
        match self._harm.kind:
            case "delay":
                self._over.wait(self._harm.seconds)
                target.sendall(piece)
            case "trickle":
                for at in range(0, len(piece), 200):
                    time.sleep(0.0005)
                    target.sendall(piece[at : at + 200])
            case "stall":
                if not self._stalled:
                    self._stalled = True
                    self._over.wait(self._harm.seconds)
                target.sendall(piece)
            case _:
                self._over.wait()


def _close(endpoint: socket.socket) -> None:
    with contextlib.suppress(OSError):
        endpoint.shutdown(socket.SHUT_RDWR)
    endpoint.close()
