"""Asking a service with Neo4j's driver, and waiting for the answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pcneo.basics.model import Key, Progress
from pcneo.basics.searches import AnyP
from pcneo.service.placing import AnsweredRequest, Patience, PlacedRequest, answer_of, is_to_be_cancelled

if TYPE_CHECKING:
    from pcneo.store.database import Database

__all__ = ["ask"]


def ask(
    db: Database,
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
    """Ask `pcneo serve` beside the database to bring runs up to date, and wait until it has (DATA-MODEL.md#requests).

    Loads no compiled code. Interrupted, or out of time, it cancels the request.

    Args:
        db: the database.
        graph: the graph's name.
        p: one or several; None for every standing run of the graph.
        search: `smallest`, `density` or `degree`; None for `smallest`, without p for that of each run.
        vertices: one key or several; None for the whole graph.
        command: `annotate`; or `check`, of a graph or a run; or `clean`, of a run, where the owner allows it.
        run: id of a run, for `check` and `clean`.
        by: who asks, for the owner to read.
        request: identifier of the request. With one of your own the same request can be placed again: it is worked on
            once, and its answer is there for as long as the service keeps it. None for a new one.
        timeout: seconds to wait; None for as long as it takes. After ten seconds in which no service has taken the
            request, the logger `pcneo` warns.
        progress: called with the request's status, hundredths done and 100.

    Returns:
        The answer.

    Raises:
        RequestError: the request failed, was cancelled, or was not answered in time; the message says why.
        BusyError: for ten seconds, an open transaction has held the request.
        DatabaseError: the database cannot be asked.
    """
    values = {"command": command, "graph": graph, "p": p, "search": search, "vertices": vertices, "run": run, "by": by}
    placed = PlacedRequest(**values) if request is None else PlacedRequest(**values, id=request)
    try:
        db.write("place_request", **placed.parameters())
    except KeyboardInterrupt:  # the request may be there already, though nobody has said so here
        db.write("cancel_request", id=placed.id)
        raise
    patience = Patience(placed.id, timeout, time.monotonic())
    try:
        while True:
            rows = db.read("get_answer", id=placed.id)
            answer = answer_of(placed.id, rows)
            if isinstance(answer, AnsweredRequest):
                return answer
            if progress is not None:
                progress("waiting", round(100 * answer), 100)
            time.sleep(patience.pause(time.monotonic(), rows[0]))
    except BaseException as error:
        if is_to_be_cancelled(error):
            db.write("cancel_request", id=placed.id)
        raise
