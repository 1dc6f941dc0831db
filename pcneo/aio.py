"""Asking a service from `asyncio`, with Neo4j's own asynchronous driver: as `ask`, but without blocking the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

from pcneo.basics.keys import keys_or_all
from pcneo.basics.model import Key, Progress
from pcneo.basics.searches import AnyP
from pcneo.errors import ConnectionFailedError
from pcneo.service.placing import AnsweredRequest, Pause, PlacedRequest, Statement, Step, conversation
from pcneo.store.connection import connect_async, settings_of
from pcneo.store.failures import translated
from pcneo.store.sessions import limited, session_options
from pcneo.store.statements import load_statement
from pcneo.store.transaction import Row

if TYPE_CHECKING:
    from neo4j import AsyncDriver, AsyncManagedTransaction

__all__ = ["AnsweredRequest", "AsyncDb", "AsyncGraph", "connect"]


class AsyncDb:
    """One database of a server, for asking the service beside it. Use it in an `async with` block, or `close` it.

    >>> async def ask():
    ...     async with await pcneo.aio.connect() as adb:
    ...         return await adb.graph("friends").ask(p="0.3", vertices=[58])
    >>> asyncio.run(ask()).runs  # doctest: +SKIP
    (('friends@3/10:vertices', 1),)
    """

    def __init__(self, driver: AsyncDriver, database: str | None, *, owns_driver: bool) -> None:
        """Take a driver, to be closed by `close` if the database owns it."""
        self._driver = driver
        self._database = database
        self._owns_driver = owns_driver

    def graph(self, name: str) -> AsyncGraph:
        """Return a graph by its name; only the service checks that it exists.

        Args:
            name: the graph's name.
        """
        return AsyncGraph(self, name)

    async def ask(
        self,
        command: str,
        *,
        request: Key | None = None,
        timeout: float | None = None,
        progress: Progress | None = None,
        **asked: Any,
    ) -> AnsweredRequest:
        """Ask for a command, as `Db.ask` does. Cancelling the task also cancels its request.

        Args:
            command: as for `Db.ask`.
            request, timeout, progress: as for `GraphHandle.ask`.
            **asked: the request's other properties: `graph`, `p`, `search`, `vertices`, `run`, `by`.
        """
        steps = conversation(PlacedRequest.of(command, request, **asked), timeout, progress)
        try:
            step = next(steps)
            while True:
                try:
                    rows = await self._take(step)
                except BaseException as error:  # noqa: BLE001 - the conversation decides, and raises it again
                    step = steps.throw(error)
                else:
                    step = steps.send(rows)
        except StopIteration as end:
            return end.value

    async def _take(self, step: Step) -> list[Row]:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return []
        rows = self._rows(step)
        return await (asyncio.shield(rows) if step.last else rows)

    async def _rows(self, step: Statement) -> list[Row]:
        text = load_statement(step.name).render({})

        async def work(transaction: AsyncManagedTransaction) -> list[Row]:
            return [dict(record.items()) async for record in await transaction.run(text, step.parameters)]

        options = session_options(self._driver, self._database, "WRITE" if step.writes else "READ")
        with translated():
            async with self._driver.session(**options) as session:
                if step.writes:
                    return await session.execute_write(limited(work))
                return await session.execute_read(work)

    async def close(self) -> None:
        """Close the driver, unless the caller opened it."""
        if self._owns_driver:
            await self._driver.close()

    async def __aenter__(self) -> Self:
        """Return the database."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the driver, unless the caller opened it."""
        await self.close()

    def __repr__(self) -> str:
        """Name the database, without asking the server."""
        return f"<AsyncDb {self._database or 'home'}>"


class AsyncGraph:
    """A graph by its name, for asking the service beside the database."""

    def __init__(self, db: AsyncDb, name: str) -> None:
        """Take the database, and the graph's name."""
        self._db = db
        self.name = name

    async def ask(
        self,
        p: AnyP | Sequence[AnyP] | None = None,
        search: str | None = None,
        *,
        vertices: Key | Iterable[Key] | None = None,
        by: str | None = None,
        request: Key | None = None,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> AnsweredRequest:
        """Ask a service to bring runs up to date, and wait until it has; errors are those of `GraphHandle.ask`.

        Args:
            p, search, vertices, by, request, timeout, progress: as for `GraphHandle.ask`.
        """
        return await self._db.ask(
            "annotate",
            graph=self.name,
            p=p,
            search=search,
            vertices=keys_or_all(vertices),
            by=by,
            request=request,
            timeout=timeout,
            progress=progress,
        )

    def __repr__(self) -> str:
        """Name the graph."""
        return f"<AsyncGraph {self.name!r}>"


async def connect(
    uri: str | None = None,
    *,
    auth: tuple[str, str] | None = None,
    database: str | None = None,
    driver: AsyncDriver | None = None,
) -> AsyncDb:
    """Connect to a database, for asking the service beside it.

    Args:
        uri: its Bolt address; None to take it from `NEO4J_URI` and the other variables.
        auth: user and password; needed with an address, and otherwise in place of those in the environment.
        database: its name; None for the user's home database.
        driver: one of Neo4j's asynchronous drivers, open, in place of an address; you close it yourself.

    Raises:
        ConnectionFailedError: there is no address, or it cannot be reached.
        ParameterError: an address without a user, or an address beside a driver.
    """
    settings = settings_of(uri, auth, database, driver)
    if driver is not None:
        return AsyncDb(driver, database, owns_driver=False)
    if settings is None:
        raise ConnectionFailedError("NEO4J_URI is not set. Set it, NEO4J_USERNAME and NEO4J_PASSWORD.")
    return AsyncDb(await connect_async(settings), settings.database, owns_driver=True)
