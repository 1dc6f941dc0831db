"""A client of a scheduler, and how a user sees its failures."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pcneo.errors import ClusterError, needs_extra

if TYPE_CHECKING:
    from distributed import Client


CONNECT_SECONDS = 5
"""How long a scheduler may take to answer at all."""
JOIN_SECONDS = 20
"""How long a scheduler that has answered may take to accept us as its client."""
ENDS = (OSError, ValueError, TypeError, RuntimeError, ImportError, MemoryError, EOFError)
"""What Dask raises if an address is invalid, if nothing answers there, or if what answers is not a scheduler: it takes
the first bytes of a web server's answer for a length, and does not have that much memory."""


@contextmanager
def connected_scheduler(address: str) -> Iterator[Client]:
    """Connect to a scheduler, and disconnect after the block."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ClusterError(needs_extra("A cluster needs dask.distributed", "dask")) from error
    _silence()
    try:
        # A client that never had a scheduler waits for a long time, and then prints a traceback.
        kind = asyncio.run(_kind_at(address))
        if kind != "Scheduler":
            raise ValueError(f"it is the address of a {kind.lower()}")
        client = Client(address, timeout=JOIN_SECONDS, set_as_default=False, name="pcneo")
    except ENDS as error:
        raise ClusterError(f"No scheduler answers at {address!r}: {_reason(error)}.", address=address) from error
    with client:
        yield client


def _silence() -> None:
    """Let Dask log nothing here: our errors say what matters, and its tracebacks would appear beside them."""
    for name in [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]:
        logging.getLogger(name).setLevel(logging.CRITICAL)  # some have their own levels


async def _kind_at(address: str) -> str:
    """Return what answers at an address: `Scheduler`, `Worker` or `Nanny`."""
    from distributed import Security
    from distributed.comm.core import connect

    options = Security().get_connection_args("client")
    if address.startswith("tls:") and options.get("ssl_context") is None:
        raise ValueError("TLS needs certificates; name them in Dask's own settings (distributed.comm.tls)")
    async with asyncio.timeout(CONNECT_SECONDS + 1):
        comm = await connect(address, timeout=CONNECT_SECONDS, **options)
        try:
            await comm.write({"op": "identity", "reply": True})
            answer = await comm.read()
        finally:
            comm.abort()
    return str(answer["type"])


def _reason(error: BaseException) -> str:
    """Return why there is no connection: the system's own reason, if it gave one."""
    from distributed.comm.core import CommClosedError

    if isinstance(error, CommClosedError | MemoryError | EOFError):
        return "something else answers there"
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror.lower()
        cause = cause.__cause__ or cause.__context__
    return (
        f"nothing answered within {CONNECT_SECONDS} seconds" if isinstance(error, OSError) else str(error).rstrip(".")
    )


@contextmanager
def scheduler_failures(client: Client) -> Iterator[None]:
    """Turn what the connection to a scheduler raises inside the block into a ClusterError."""
    try:
        yield
    except (OSError, CancelledError, asyncio.CancelledError, RuntimeError) as error:
        raise _gone(client) from error


def check_running(client: Client) -> None:
    """Check that the client still has its scheduler."""
    if client.status != "running":
        raise _gone(client)


def _gone(client: Client) -> ClusterError:
    scheduler = getattr(client, "scheduler", None)
    address = getattr(scheduler, "address", "its address")
    return ClusterError(
        f"The scheduler at {address} is gone, and the search is unfinished. Start one, and run this again.",
        address=address,
    )
