"""The announcement that kernels are being compiled, which takes a while and happens once."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from numba.core.event import Event, Listener, install_listener

log = logging.getLogger("pcneo")


@contextmanager
def compilation_announced(what: str) -> Iterator[None]:
    """Announce, when numba starts to compile inside this block, that it takes a while; once per process and `what`."""
    with install_listener("numba:compile", _Announcement(what)):
        yield


_announced: set[str] = set()


class _Announcement(Listener):
    """Logs the announcement when the first compilation starts."""

    def __init__(self, what: str) -> None:
        self._what = what

    def on_start(self, event: Event) -> None:
        if self._what not in _announced:
            _announced.add(self._what)
            log.warning(
                "Compiling one part of %s for this machine "
                "(each part only once; up to half a minute, longer on a busy machine).",
                self._what,
            )

    def on_end(self, event: Event) -> None:
        pass
