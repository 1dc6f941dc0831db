"""A test that outlives its timeout and would wait for ever: what waits for what is printed, and its worker ends.

pytest-timeout ends a test by an exception in the main thread. Code that catches it there to wait for its own
thread goes on waiting, and so does everyone who waits for the tests.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import neo4j
import pytest
from neo4j_servers import Server

GRACE_SECONDS = 60.0
"""After the timeout: as long as a connection attempt of the driver takes."""
EXIT_CODE = 70
LINES = 400
"""Of the server's list of its threads."""


@contextmanager
def watched(item: pytest.Item, servers: list[Server]) -> Iterator[None]:
    """Run a test inside the block; end this process where that takes a minute longer than the test may."""
    mark = item.get_closest_marker("timeout")
    limit = float(mark.args[0] if mark else item.config.getoption("timeout") or item.config.getini("timeout"))
    watch = threading.Timer(limit + GRACE_SECONDS, _end, [item, servers])
    watch.daemon = True
    watch.start()
    try:
        yield
    finally:
        watch.cancel()


def _end(item: pytest.Item, servers: list[Server]) -> None:
    capture: Any = item.config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.suspend_global_capture(in_=False)
    _print(f"\n{item.nodeid} has outlived its timeout. Threads of its process:")
    faulthandler.dump_traceback(2, all_threads=True)
    for server in servers:
        asking = threading.Thread(target=_print_transactions, args=[server], daemon=True)
        asking.start()
        asking.join(20)
        if asking.is_alive():
            _print("The server does not list its transactions.")
        if server.pid is not None and server.log is not None:
            os.kill(server.pid, signal.SIGQUIT)  # which has Java list its threads
            time.sleep(2)
            _print("\n".join(server.log.read_text(errors="replace").splitlines()[-LINES:]))
            os.kill(server.pid, signal.SIGKILL)
    os._exit(EXIT_CODE)


def _print_transactions(server: Server) -> None:
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        for record in driver.execute_query("SHOW TRANSACTIONS YIELD * ORDER BY startTime").records:
            _print(str(dict(record)))


def _print(text: str) -> None:
    os.write(2, f"{text}\n".encode())
