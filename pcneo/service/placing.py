"""A request as an application places it, and the conversation that waits for its answer, with any driver."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from pcneo.basics.frames import words
from pcneo.basics.keys import key_that_fits
from pcneo.basics.model import Key, Progress
from pcneo.basics.searches import DEFAULT_SEARCH, AnyP, P
from pcneo.basics.spelling import did_you_mean
from pcneo.errors import ParameterError, RequestError
from pcneo.store.transaction import Row

if TYPE_CHECKING:
    from pcneo.store.database import Database

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 1.0
TAKEN_SECONDS = 10.0
"""How long a request waits to be taken before that is logged; an idle service looks every two seconds."""

LEFT_OUT = {
    "vertices": "leave it out for the whole graph",
    "p": "leave it out for every standing run of the graph",
}
"""What to do instead of sending an empty list."""

log = logging.getLogger("pcneo")


@dataclass(frozen=True)
class AnsweredRequest:
    """A request that is complete.

    Attributes:
        id: its identifier.
        message: the service's message.
        runs: id and version of each run that it produced; readers go by that version, or by a later one.
    """

    id: Key
    message: str
    runs: tuple[tuple[str, int], ...]


@dataclass(frozen=True, kw_only=True)
class PlacedRequest:
    """What is asked; `GraphHandle.ask` explains each attribute. The service finds what is wrong with it."""

    command: str
    graph: str | None = None
    p: AnyP | Sequence[AnyP] | None = None
    search: str | None = None
    vertices: Key | Sequence[Key] | None = None
    run: str | None = None
    by: str | None = None
    id: Key = field(default_factory=lambda: str(uuid.uuid4()))

    @classmethod
    def of(cls, command: str, id: Key | None, **asked: Any) -> PlacedRequest:
        """Return a request, with a new identifier where none is given."""
        properties = [each.name for each in fields(cls) if each.name not in ("command", "id")]
        known = [*properties, "request", "timeout", "progress"]
        if unknown := sorted(asked.keys() - set(known)):
            near = did_you_mean(unknown[0], known) or f" It takes {words(known)}."
            raise TypeError(f"ask() got an unexpected keyword argument {unknown[0]!r}.{near}")
        return cls(command=command, **asked) if id is None else cls(command=command, id=id, **asked)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the statement `place_request`; refuse what no driver could send."""
        values = {
            "command": self.command,
            "graph": self.graph,
            "p": _several(self.p, "p", lambda p: P(p).text),
            "search": self.search,
            "vertices": _several(self.vertices, "vertices", key_that_fits),
            "run": self.run,
            "by": self.by,
        }
        if isinstance(values["vertices"], list) and len({isinstance(key, str) for key in values["vertices"]}) > 1:
            raise ParameterError(
                "vertices has both integers and text, but all keys must be of one kind.",
                name="vertices",
                value=self.vertices,
            )
        given = {name: value for name, value in values.items() if value is not None}
        return {"id": key_that_fits(self.id), "values": given}

    def check_same(self, rows: Sequence[Row]) -> None:
        """Refuse an identifier under which something else was asked, by the row of the statement `place_request`."""
        wanted = self.parameters()["values"]
        for row in rows:
            there = row["asked"]
            if other := [name for name in sorted(there) if _meant(name, there) != _meant(name, wanted)]:
                raise ParameterError(
                    f"Request {self.id!r} is there already and asks for something else ({words(other)}). Choose "
                    "another identifier.",
                    name="request",
                    value=self.id,
                )


def _meant(name: str, asked: Mapping[str, Any]) -> set[Any]:
    """Return one property of a request in a form that is equal where two requests ask for the same."""
    value: Any = asked.get(name)
    if name == "search" and asked.get("p") is not None:
        value = value or DEFAULT_SEARCH
    several: set[Any] = set(value) if isinstance(value, list) else {value}
    if name == "p" and value is not None:
        with suppress(ParameterError, TypeError):  # what somebody wrote there may be no p
            return set(map(P, several))
    return several


def _several(value: Any, name: str, plain: Any) -> Any:
    if value is None or isinstance(value, str) or not isinstance(value, Sequence):
        return None if value is None else plain(value)
    if not value:
        raise ParameterError(f"{name} is an empty list; {LEFT_OUT[name]}.", name=name, value=value)
    return [plain(item) for item in value]


def answer_of(request: Key, rows: Sequence[Row]) -> AnsweredRequest | float:
    """Return the answer to a request, or its progress, 0 to 1, from the rows of the statement `get_answer`."""
    if not rows:
        raise RequestError(f"Request {request!r} is gone.", id=request, status=None)
    row = rows[0]
    if row["status"] in ("failed", "cancelled"):
        message = row["message"] or f"The request was {row['status']}."
        raise RequestError(message, id=request, status=row["status"])
    if row["status"] == "complete":
        return AnsweredRequest(request, row["message"] or "", tuple((run, version) for run, version in row["runs"]))
    return float(row["progress"] or 0.0)


@dataclass(frozen=True)
class Statement:
    """A statement that a conversation asks its driver to run, which sends back the rows.

    Attributes:
        name: of the statement.
        parameters: its values.
        writes: whether it writes.
        last: whether it must be run even though the task is being cancelled.
    """

    name: str
    parameters: dict[str, Any]
    writes: bool = False
    last: bool = False


@dataclass(frozen=True)
class Pause:
    """A number of seconds to wait."""

    seconds: float


Step = Statement | Pause


def conversation(
    placed: PlacedRequest, timeout: float | None, progress: Progress | None
) -> Generator[Step, list[Row], AnsweredRequest]:
    """Place a request and wait for its answer; the driver runs each step, and throws in what fails or interrupts."""
    if timeout is not None and not timeout >= 0:
        wanted = f"timeout is a number of seconds, 0 or more, not {timeout!r}."
        raise ParameterError(wanted, name="timeout", value=timeout)
    cancelling = Statement("cancel_request", {"id": placed.id}, writes=True, last=True)
    try:
        rows = yield Statement("place_request", placed.parameters(), writes=True)
    except GeneratorExit:
        raise
    except BaseException as error:
        if not isinstance(error, Exception):  # the request may be placed already, though no answer has said so
            yield cancelling
        raise
    placed.check_same(rows)
    patience = Patience(placed.id, timeout, time.monotonic())
    try:
        while True:
            rows = yield Statement("get_answer", {"id": placed.id})
            answer = answer_of(placed.id, rows)
            if isinstance(answer, AnsweredRequest):
                return answer
            if progress is not None:
                progress("waiting", round(100 * answer), 100)
            yield Pause(patience.pause(time.monotonic(), rows[0]))
    except GeneratorExit:
        raise
    except BaseException as error:
        if not (isinstance(error, RequestError) and error.data["status"] == "failed"):
            yield cancelling
        raise


class Patience:
    """How long to pause between two looks, and when to stop waiting."""

    def __init__(self, request: Key, timeout: float | None, now: float) -> None:
        """Begin at `now`, a time on a clock that only goes forward."""
        self._request = request
        self._timeout = timeout
        self._began = now
        self._pause = FIRST_PAUSE
        self._has_warned = False

    def pause(self, now: float, row: Row) -> float:
        """Return the seconds until the next look, from a row of `get_answer`; log once that no service has taken it."""
        waited = now - self._began
        is_untouched = row["status"] in (None, "requested") and row["message"] is None  # given back, it has a message
        if is_untouched and waited >= TAKEN_SECONDS and not self._has_warned:
            self._has_warned = True
            log.warning(
                "No service has taken request %r in %.0f s. Is `pcneo serve` running beside this database? It works "
                "on two requests at once. To wait no longer than that, give timeout=.",
                self._request,
                waited,
            )
        pause, self._pause = self._pause, min(1.2 * self._pause, LONGEST_PAUSE)
        if self._timeout is None:
            return pause
        left = self._timeout - waited
        if left <= 0:
            raise RequestError(
                f"Request {self._request!r} was not answered within {self._timeout:g} seconds, so it was cancelled. Is "
                "`pcneo serve` running beside this database?",
                id=self._request,
                status="cancelled",
            )
        return min(pause, left)


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
