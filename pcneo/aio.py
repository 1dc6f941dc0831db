"""Asking a service from `asyncio`, with Neo4j's `AsyncDriver`: what `pcneo.ask` does, without blocking the loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pcneo.basics.model import Key, Progress
from pcneo.basics.searches import AnyP
from pcneo.service.placing import AnsweredRequest, Patience, PlacedRequest, answer_of, is_to_be_cancelled
from pcneo.store.failures import translated
from pcneo.store.sessions import limited, session_options
from pcneo.store.statements import load_statement
from pcneo.store.transaction import Row

if TYPE_CHECKING:
    from neo4j import AsyncDriver, AsyncManagedTransaction

__all__ = ["AnsweredRequest", "ask"]


async def ask(
    driver: AsyncDriver,
    database: str | None = None,
    *,
    graph: str | None = None,
    p: AnyP | Sequence[AnyP] | None = None,
    search: str | None = None,
    vertices: Key | Sequence[Key] | None = None,
    command: str = "annotate",
    run: str | None = None,
    by: str | None = None,
    request: Key | None = None,
    timeout: float | None = None,
    progress: Progress | None = None,
) -> AnsweredRequest:
    """Ask `pcneo serve` beside the database, and wait for its answer; the request of a cancelled task is cancelled.

    Args:
        driver: an open asynchronous driver.
        database, graph, p, search, vertices, command, run, by, request, timeout, progress: as for `pcneo.ask`.

    Returns:
        The answer.

    Raises:
        RequestError, BusyError, DatabaseError: as from `pcneo.ask`.
    """
    values = {"command": command, "graph": graph, "p": p, "search": search, "vertices": vertices, "run": run, "by": by}
    placed = PlacedRequest(**values) if request is None else PlacedRequest(**values, id=request)
    try:
        await _rows(driver, database, "WRITE", "place_request", placed.parameters())
    except asyncio.CancelledError:  # the request may be there already, though nobody has said so here
        await _cancel(driver, database, placed)
        raise
    patience = Patience(placed.id, timeout, time.monotonic())
    try:
        while True:
            rows = await _rows(driver, database, "READ", "get_answer", {"id": placed.id})
            answer = answer_of(placed.id, rows)
            if isinstance(answer, AnsweredRequest):
                return answer
            if progress is not None:
                progress("waiting", round(100 * answer), 100)
            await asyncio.sleep(patience.pause(time.monotonic(), rows[0]))
    except BaseException as error:
        if is_to_be_cancelled(error):
            await _cancel(driver, database, placed)
        raise


async def _cancel(driver: AsyncDriver, database: str | None, placed: PlacedRequest) -> None:
    await asyncio.shield(_rows(driver, database, "WRITE", "cancel_request", {"id": placed.id}))


async def _rows(
    driver: AsyncDriver, database: str | None, access: str, statement: str, parameters: dict[str, Any]
) -> list[Row]:
    text = load_statement(statement).render({})

    async def work(transaction: AsyncManagedTransaction) -> list[Row]:
        return [dict(record.items()) async for record in await transaction.run(text, parameters)]

    if access == "WRITE":
        work = limited(work)
    with translated():
        async with driver.session(**session_options(driver, database, access)) as session:
            return await (session.execute_write if access == "WRITE" else session.execute_read)(work)
