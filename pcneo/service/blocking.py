"""Asking a service with Neo4j's driver, and waiting for the answer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from pcneo.basics.model import Key, Progress
from pcneo.service.placing import AnsweredRequest, Pause, PlacedRequest, Step, conversation

if TYPE_CHECKING:
    from pcneo.store.database import Database
    from pcneo.store.transaction import Row


def ask(
    db: Database,
    *,
    command: str = "annotate",
    request: Key | None = None,
    timeout: float | None = None,
    progress: Progress | None = None,
    **asked: Any,
) -> AnsweredRequest:
    """Ask `pcneo serve` beside the database, and wait for its answer (DATA-MODEL.md#requests).

    Loads no compiled code. When interrupted or out of time, it cancels the request.
    """
    steps = conversation(PlacedRequest.of(command, request, **asked), timeout, progress)
    try:
        step = next(steps)
        while True:
            try:
                rows = _take(db, step)
            except BaseException as error:  # noqa: BLE001 - the conversation decides, and raises it again
                step = steps.throw(error)
            else:
                step = steps.send(rows)
    except StopIteration as end:
        return end.value


def _take(db: Database, step: Step) -> list[Row]:
    if isinstance(step, Pause):
        time.sleep(step.seconds)
        return []
    return (db.write if step.writes else db.read)(step.name, **step.parameters)
