"""A request as an application places it, and how its answer is read; for the blocking and the asynchronous way."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pcneo.basics.model import Key
from pcneo.basics.searches import AnyP, P
from pcneo.errors import ParameterError, RequestError
from pcneo.store.transaction import Row

__all__ = ["AnsweredRequest", "Patience", "PlacedRequest", "answer_of", "is_to_be_cancelled"]

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 1.0
TAKEN_SECONDS = 10.0
"""How long a request waits to be taken before it is said; a service that rests looks every two seconds."""

LEFT_OUT = {
    "vertices": "leave it out for the whole graph",
    "p": "leave it out for every standing run of the graph",
}
"""What may be meant by an empty list."""

log = logging.getLogger("pcneo")


@dataclass(frozen=True)
class AnsweredRequest:
    """A request that is complete.

    Attributes:
        id: its identifier.
        message: what the service says.
        runs: id and version of each run that it produced; readers go by that version, or by a later one.
    """

    id: Key
    message: str
    runs: tuple[tuple[str, int], ...]


@dataclass(frozen=True, kw_only=True)
class PlacedRequest:
    """What is asked; `pcneo.ask` says what each attribute means. What is wrong with it the service finds."""

    command: str
    graph: str | None
    p: AnyP | Sequence[AnyP] | None
    search: str | None
    vertices: Key | Sequence[Key] | None
    run: str | None
    by: str | None
    id: Key = field(default_factory=lambda: str(uuid.uuid4()))

    def parameters(self) -> dict[str, Any]:
        """Return it as the statement `place_request` takes it.

        Raises:
            ParameterError: a list is empty, which the database would not tell from one that is left out.
        """
        values = {
            "command": self.command,
            "graph": self.graph,
            "p": _several(self.p, "p", lambda p: P(p).text),
            "search": self.search,
            "vertices": _several(self.vertices, "vertices", lambda key: key),
            "run": self.run,
            "by": self.by,
        }
        return {"id": self.id, "values": {name: value for name, value in values.items() if value is not None}}


def _several(value: Any, name: str, plain: Any) -> Any:
    if value is None or isinstance(value, str) or not isinstance(value, Sequence):
        return None if value is None else plain(value)
    if not value:
        raise ParameterError(f"{name} is an empty list; {LEFT_OUT[name]}.", name=name, value=value)
    return [plain(item) for item in value]


def answer_of(request: Key, rows: Sequence[Row]) -> AnsweredRequest | float:
    """Return the answer of a request, or how far it is, 0 to 1, from the rows of the statement `get_answer`.

    Raises:
        RequestError: it failed, was cancelled, or is gone.
    """
    if not rows:
        raise RequestError(f"Request {request!r} is gone.", id=request, status=None)
    row = rows[0]
    if row["status"] in ("failed", "cancelled"):
        message = row["message"] or f"The request was {row['status']}."
        raise RequestError(message, id=request, status=row["status"])
    if row["status"] == "complete":
        return AnsweredRequest(request, row["message"] or "", tuple((run, version) for run, version in row["runs"]))
    return float(row["progress"] or 0.0)


def is_to_be_cancelled(error: BaseException) -> bool:
    """Return whether an error that ends the waiting may leave the request to be worked on: all but its own failure."""
    return not (isinstance(error, RequestError) and error.data["status"] == "failed")


class Patience:
    """How long to pause between two looks, and when to stop waiting."""

    def __init__(self, request: Key, timeout: float | None, now: float) -> None:
        """Begin at `now`, a time of a clock that only goes forward."""
        self._request = request
        self._timeout = timeout
        self._began = now
        self._pause = FIRST_PAUSE
        self._told = False

    def pause(self, now: float, row: Row) -> float:
        """Return the seconds until the next look, from a row of `get_answer`; say once that nobody took the request.

        Raises:
            RequestError: the time is over.
        """
        waited = now - self._began
        is_untouched = row["status"] in (None, "requested") and row["message"] is None  # given back, it has a message
        if is_untouched and waited >= TAKEN_SECONDS and not self._told:
            self._told = True
            log.warning(
                "Nobody has taken request %r for %.0f s. Does `pcneo serve` run beside this database? It takes one "
                "request at a time; timeout= ends the wait.",
                self._request,
                waited,
            )
        pause, self._pause = self._pause, min(1.2 * self._pause, LONGEST_PAUSE)
        if self._timeout is None:
            return pause
        left = self._timeout - waited
        if left <= 0:
            raise RequestError(
                f"Request {self._request!r} was not answered in {self._timeout:g} seconds, so it was cancelled. Does "
                "`pcneo serve` run beside this database?",
                id=self._request,
                status="cancelled",
            )
        return min(pause, left)
