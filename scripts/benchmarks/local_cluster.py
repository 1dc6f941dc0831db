"""Single-threaded worker processes on this machine, which log nothing."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Client


@contextmanager
def local_cluster(workers: int) -> Iterator[Client]:
    """Start the given number of workers without a memory limit, and end them after the block."""
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.ERROR)
    options: dict[str, Any] = {
        "n_workers": workers,
        "threads_per_worker": 1,
        "memory_limit": 0,
        "dashboard_address": None,
        "silence_logs": logging.CRITICAL,
    }
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        yield client
