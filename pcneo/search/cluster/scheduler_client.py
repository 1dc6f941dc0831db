"""A client of a scheduler, and what its failures are to a user."""

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
"""How long one that has answered may take until we are its client."""
ENDS = (OSError, ValueError, TypeError, RuntimeError, ImportError, MemoryError, EOFError)
"""What Dask raises for addresses that are none, for nobody there, and for what is no scheduler: the first bytes of a
web server's answer are taken for a length, and there is no memory for that."""


@contextmanager
def connected_scheduler(address: str) -> Iterator[Client]:
    """Connect to a scheduler, and disconnect after the block."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ClusterError(needs_extra("A cluster needs dask.distributed", "dask")) from error
    _silence()
    try:
        # A client that never had a scheduler waits long, and then says so in a traceback.
        kind = asyncio.run(_kind_at(address))
        if kind != "Scheduler":
            raise ValueError(f"it is the address of a {kind.lower()}")
        client = Client(address, timeout=JOIN_SECONDS, set_as_default=False, name="pcneo")
    except ENDS as error:
        raise ClusterError(f"No scheduler answers at {address!r}: {_reason(error)}.", address=address) from error
    with client:
        yield client


def _silence() -> None:
    """Let Dask log nothing here: errors of ours say what matters, and its own tracebacks come beside them."""
    for name in [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]:
        logging.getLogger(name).setLevel(logging.CRITICAL)  # some have levels of their own


async def _kind_at(address: str) -> str:
    """Return what answers at an address: `Scheduler`, `Worker` or `Nanny`."""
    from distributed import Security
    from distributed.comm.core import connect

    options = Security().get_connection_args("client")
    if address.startswith("tls:") and options.get("ssl_context") is None:
        raise ValueError("TLS needs certificates, which Dask's own settings name (distributed.comm.tls)")
    async with asyncio.timeout(CONNECT_SECONDS + 1):
        comm = await connect(address, timeout=CONNECT_SECONDS, **options)
        try:
            await comm.write({"op": "identity", "reply": True})
            answer = await comm.read()
        finally:
            comm.abort()
    return str(answer["type"])


def _reason(error: BaseException) -> str:
    """Return why there is no connection: what the system said, where it said anything."""
    from distributed.comm.core import CommClosedError

    if isinstance(error, CommClosedError | MemoryError | EOFError):
        return "what answers there is something else"
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror.lower()
        cause = cause.__cause__ or cause.__context__
    return f"nothing does within {CONNECT_SECONDS} seconds" if isinstance(error, OSError) else str(error).rstrip(".")


@contextmanager
def scheduler_failures(client: Client) -> Iterator[None]:
    """Turn what the connection to a scheduler raises inside the block into a ClusterError."""
    try:
        yield
    except (OSError, CancelledError, asyncio.CancelledError, RuntimeError) as error:
        raise _gone(client) from error


def check_running(client: Client) -> None:
    """See that the client has its scheduler."""
    if client.status != "running":
        raise _gone(client)


def _gone(client: Client) -> ClusterError:
    scheduler = getattr(client, "scheduler", None)
    address = getattr(scheduler, "address", "its address")
    return ClusterError(
        f"The scheduler at {address} is gone, and the search is unfinished. Start one, and run this again.",
        address=address,
    )
