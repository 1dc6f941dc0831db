"""A client of a scheduler, and what its failures are to a user."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pcneo.errors import ClusterError

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["check_running", "connected_scheduler", "scheduler_failures"]

CONNECT_SECONDS = 10


@contextmanager
def connected_scheduler(address: str) -> Iterator[Client]:
    """Connect to a scheduler, and disconnect after the block.

    Args:
        address: such as `tcp://host:8786`; settings for TLS are Dask's own.

    Raises:
        ClusterError: there is no scheduler, or `distributed` is not installed.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ClusterError("A cluster needs dask.distributed: pip install 'pcneo[dask]'.") from error
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False, name="pcneo")
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise ClusterError(f"No scheduler answers at {address}: {error}", address=address) from error
    with client:
        yield client


@contextmanager
def scheduler_failures(client: Client) -> Iterator[None]:
    """Turn what the connection to a scheduler raises inside the block into a ClusterError."""
    try:
        yield
    except (OSError, CancelledError, asyncio.CancelledError, RuntimeError) as error:
        raise _gone(client) from error


def check_running(client: Client) -> None:
    """See that the client has its scheduler.

    Raises:
        ClusterError: it is gone.
    """
    if client.status != "running":
        raise _gone(client)


def _gone(client: Client) -> ClusterError:
    scheduler = getattr(client, "scheduler", None)
    address = getattr(scheduler, "address", "its address")
    return ClusterError(f"The scheduler at {address} is gone. Nothing was stored; run it again.", address=address)
