"""Requests as nodes: the queue of a database, and one worker's claim on a request (DATA-MODEL.md#requests).

Everything that depends on what a request says locks it first and reads it afterwards, in one transaction of at most
`TRANSACTION_SECONDS`. Without the lock two workers would claim the same request.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pcneo.basics.model import Key
from pcneo.errors import BusyError
from pcneo.store.database import Database
from pcneo.store.transaction import Row, Transaction

LEASE_SECONDS = 30
"""How long a claim counts after its worker was last heard of, by the server's clock."""
TRANSACTION_SECONDS = 5.0
"""How long a transaction on a request may take, so that someone's open lock on it holds no one up for long."""
BLOCKED_SECONDS = 1.0
"""How long it may be blocked; there are other requests."""
ENTER_SECONDS = 2.0
"""How long a transaction on new requests may take, which are entered many at once."""
BATCH = 1_000
"""Requests that one transaction enters, refuses or deletes."""
AHEAD_SECONDS = 60
"""No lease and no pause that a service writes reaches further; a later time is someone else's, and does not count."""
MOST_ATTEMPTS = 1_000
"""Larger values are not ours; they count as this many."""
LONGEST_BUSY = 10 * 86_400
"""The same for `busySince`, in seconds."""
LONGEST_TEXT = 1_000
"""The most characters of a text that is read from a request."""
LONGEST_LIST = 100_000
"""The most items of a list that is read from a request."""

ENDED = ("complete", "failed", "cancelled")
STATUSES = ("requested", "running", *ENDED)

SMALL_VERTICES = 100
"""The most vertices of a small request."""

VALUES = ("command", "graph", "p", "search", "vertices", "run", "by")
"""Properties by which a request says what it wants."""


@dataclass(frozen=True)
class Waiting:
    """What waits in the queue: identifier and graph of each request, for each kind the first ones that may be claimed.

    Attributes:
        requests: how many there are of any status.
        open: whether any waits or is worked on, due or not.
        cancelled: those that their authors have stopped.
        small: those for single vertices, for one run to check, and those that cannot be right.
        large: the others.
    """

    requests: int
    open: bool
    cancelled: list[tuple[Key, str | None]]
    small: list[tuple[Key, str | None]]
    large: list[tuple[Key, str | None]]


class LostClaimError(BusyError):
    """The request is gone, or another worker has it: what was done for it must not become visible."""


@dataclass(frozen=True)
class Claim:
    """A request that a worker has claimed.

    Attributes:
        id: its identifier.
        token: random; a worker that holds another one has lost the request.
        attempts: how often it was tried, this time included.
        cancel: whether its author has stopped it already.
        busy: seconds since it was first found to be waiting for others.
        names: its properties, the first hundred.
        kinds: the kind of each of `VALUES` that it has, as the server names kinds.
        values: each of `VALUES`; None if it is missing, too long, or neither a scalar nor a list of scalars.
    """

    id: Key
    token: str
    attempts: int
    cancel: bool
    busy: int
    names: tuple[str, ...]
    kinds: Mapping[str, str]
    values: Mapping[str, object]


@dataclass(frozen=True)
class Answer:
    """How a request ends.

    Attributes:
        status: `complete`, `failed` or `cancelled`.
        message: a sentence for the author of the request.
        runs: id and version of the runs that it produced.
    """

    status: str
    message: str
    runs: tuple[tuple[str, int], ...] = ()


class RequestQueue:
    """The requests of one database.

    Attributes:
        db: the database.
    """

    def __init__(self, db: Database) -> None:
        """Work on the requests of a database."""
        self.db = db

    def poll(
        self, limit: int = 10, graphs: Collection[str] = (), skip: Collection[Key] = (), busy: Collection[str] = ()
    ) -> Waiting:
        """Return what may be claimed now, first come, first served: at most `limit` requests of each kind.

        Where `graphs` are named, those about other graphs that the database knows are left to other services. The
        requests `skip` and those about the graphs `busy` are left out, since they would fill the lists for as long as
        nothing can be done about them; one that its author has stopped needs no graph.
        """
        without = {"skip": list(skip), "busy": list(busy)}
        waiting = self._poll(limit, (), [], without)
        due = [graph for _, graph in (*waiting.cancelled, *waiting.small, *waiting.large)]
        if graphs and any(graph not in graphs for graph in due):
            elsewhere = [known for known in self.db.list_graph_names() if known not in graphs]
            return self._poll(limit, graphs, elsewhere, without)
        return waiting

    def _poll(
        self, limit: int, graphs: Collection[str], elsewhere: Sequence[str], without: Mapping[str, object]
    ) -> Waiting:
        limits = {"limit": limit, "ahead": AHEAD_SECONDS, "small": SMALL_VERTICES}
        row = self.db.read("poll_requests", graphs=list(graphs), elsewhere=elsewhere, **limits, **without)[0]
        lists = {name: [(id, graph) for id, graph in row[name]] for name in ("cancelled", "small", "large")}
        return Waiting(row["requests"], row["open"], **lists)

    def enter(self, limit: int = BATCH, skip: int = 0) -> int:
        """Give new requests a status, a time and an identifier; return how many there were, at most `limit`."""
        message = f"A new request has no status, or `requested`; the service sets it to one of {', '.join(STATUSES)}."
        with self.db.transaction({}, timeout=ENTER_SECONDS) as transaction:
            rows = transaction.run("enter_requests", skip=skip, limit=limit, statuses=list(STATUSES), message=message)
            transaction.commit()
            return rows[0]["entered"]

    def refuse_excess(self, waiting: int) -> int:
        """Let the newest requests fail where more than `waiting` wait; return how many, at most `BATCH`."""
        ids = self.db.read("list_excess", waiting=waiting, limit=BATCH)[0]["ids"]
        if not ids:
            return 0
        return self.refuse(ids, f"More than {waiting:,} requests are waiting. Ask again later.")

    def refuse(self, ids: Sequence[Key], message: str) -> int:
        """Let requests fail unclaimed, for a reason; return how many of them no one was working on."""
        with self.db.transaction({}, timeout=TRANSACTION_SECONDS, limit=BLOCKED_SECONDS) as transaction:
            transaction.run("lock_requests", ids=ids)
            refused = transaction.run("refuse_requests", ids=ids, message=message, ahead=AHEAD_SECONDS)[0]["refused"]
            transaction.commit()
            return refused

    def delete_answers(self, seconds: int, keep: int) -> int:
        """Delete answers older than `seconds` or beyond the latest `keep`, at most `BATCH` of each; return how many."""
        return self.db.write("delete_answers", seconds=seconds, keep=keep, limit=BATCH)[0]["deleted"]

    def count_requests(self) -> dict[str, tuple[int, int]]:
        """Return by status how many requests there are, and the age of the oldest in seconds."""
        return {row["status"]: (row["number"], row["seconds"] or 0) for row in self.db.read("count_requests")}

    def claim(self, request: Key, worker: str) -> Claim | None:
        """Claim a request for `LEASE_SECONDS`; None where another worker was first.

        The transactions of a worker whose lease has run out are ended first.
        """
        with self.db.transaction({}, timeout=TRANSACTION_SECONDS, limit=BLOCKED_SECONDS) as transaction:
            transaction.run("lock_requests", ids=[request])
            values = {"names": list(VALUES), "longest": LONGEST_TEXT, "most": LONGEST_LIST, "ahead": AHEAD_SECONDS}
            rows = transaction.run("get_request", id=request, **values)
            if not rows or not rows[0]["claimable"]:
                return None
            row = rows[0]
            if row["status"] == "running" and row["token"] is not None:
                self.terminate(row["token"])
            claim = _claim(request, uuid.uuid4().hex, row)
            transaction.run(
                "claim_request",
                id=request,
                worker=worker,
                token=claim.token,
                attempts=claim.attempts,
                lease=LEASE_SECONDS,
            )
            transaction.commit()
            return claim

    def watch(self, claim: Claim) -> bool:
        """Return whether the author of a request wants it stopped."""
        rows = self.db.read("watch_request", id=claim.id, token=claim.token)
        if not rows or not rows[0]["held"]:
            raise _lost(claim)
        return rows[0]["cancel"]

    def renew(self, claim: Claim, progress: float) -> None:
        """Renew a lease, and record how far the work is."""
        self._locked(claim, "renew_request", "renewed", lease=LEASE_SECONDS, progress=progress)

    def give_back(self, claim: Claim, message: str, *, wait: float = 0.0, attempts: int, busy: bool = False) -> None:
        """Put a request back in its place in the queue."""
        values = {"message": message, "wait": wait, "attempts": attempts, "busy": busy}
        self._locked(claim, "return_request", "returned", **values)

    def finish(self, claim: Claim, answer: Answer, progress: float = 1.0) -> None:
        """Answer a request in its own transaction."""
        with self.db.transaction({}, timeout=TRANSACTION_SECONDS, limit=BLOCKED_SECONDS) as transaction:
            finish_within(transaction, claim, answer, progress)
            transaction.commit()

    # --- graphs that are looked at without a request ----------------------------------------------------------------

    def list_due(self) -> set[str]:
        """Return the names of the graphs whose next look is due."""
        return {row["name"] for row in self.db.read("list_due")}

    def claim_due(self, graph: str, every: float, patience: float) -> bool | None:
        """Claim one look at a graph; return whether to read all of it, None if someone else has looked."""
        with self.db.transaction({}, timeout=patience) as transaction:
            transaction.touch_graph(graph)
            rows = transaction.run("claim_due", name=graph, every=every)
            transaction.commit()
            return rows[0]["reread"] if rows else None

    def note_reading(self, graph: str, wait: float) -> None:
        """Note that a graph may be read as a whole again in `wait` seconds."""
        self.db.write("note_reading", name=graph, wait=wait)

    def _locked(self, claim: Claim, statement: str, column: str, **values: object) -> None:
        with self.db.transaction({}, timeout=TRANSACTION_SECONDS, limit=BLOCKED_SECONDS) as transaction:
            transaction.run("lock_requests", ids=[claim.id])
            rows = transaction.run(statement, id=claim.id, token=claim.token, **values)
            if rows[0][column] != 1:
                raise _lost(claim)
            transaction.commit()

    def terminate(self, token: str) -> None:
        """End all transactions under way for the claim with this token, including those that read."""
        self.db.end_transactions("terminate_claim", token=token)


def finish_within(transaction: Transaction, claim: Claim, answer: Answer, progress: float = 1.0) -> None:
    """Answer a request in an open transaction, so that the answer counts if and only if its other writes do."""
    transaction.run("lock_requests", ids=[claim.id])
    rows = transaction.run(
        "finish_request",
        id=claim.id,
        token=claim.token,
        status=answer.status,
        message=answer.message,
        progress=progress,
        version=max((version for _, version in answer.runs), default=None),
        runs=[{"run": run, "version": version} for run, version in answer.runs],
    )
    if rows[0]["finished"] != 1:
        raise _lost(claim)


def is_cancelled_within(transaction: Transaction, claim: Claim) -> bool:
    """Lock a request, and return whether its author wants it stopped."""
    transaction.run("lock_requests", ids=[claim.id])
    rows = transaction.run("watch_request", id=claim.id, token=claim.token)
    return bool(rows and rows[0]["cancel"])


def _claim(request: Key, token: str, row: Row) -> Claim:
    """Read what a request says from a row of the statement `get_request`, which checks kinds; this checks bounds."""

    def by_name(column: str) -> dict[str, object]:
        return dict(zip(VALUES, row[column], strict=True))

    return Claim(
        id=request,
        token=token,
        attempts=min(max(row["attempts"], 0), MOST_ATTEMPTS) + 1,
        cancel=row["cancel"],
        busy=min(max(row["busy"], 0), LONGEST_BUSY),
        names=tuple(row["names"]),
        kinds={name: str(kind) for name, kind in by_name("kinds").items()},
        values=by_name("values"),
    )


def _lost(claim: Claim) -> LostClaimError:
    return LostClaimError(f"Request {claim.id!r} is gone, or another service has taken it over.", request=claim.id)
