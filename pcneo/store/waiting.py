"""Waits for someone's lock, ended from a second session: after some seconds, or at once if the work must stop.

A server lets a transaction wait for a lock without limit, and anyone may hold it: an open transaction in a browser is
enough. So each of our transactions that write carries a token, by which it is found in the server's list, along with
what blocks it (DATA-MODEL.md#somebody-elses-locks).
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from pcneo.errors import BusyError, PcneoError

BLOCKED_SECONDS = 10.0
"""How long a transaction may be blocked before it is ended."""
LOOK_SECONDS = 1.0
"""How often the server is asked what is blocked, once a transaction has lasted that long."""
TICK_SECONDS = 0.2
"""How soon a wait ends if the work must stop."""
ENDING_SECONDS = 2.0
"""How long an interrupted command waits for the second session, and work that must stop waits for a commit."""
MOST_NAMED = 3
"""How many open transactions are named where it is not known which of them is in the way."""

_TRANSACTION = re.compile(r"[^\s\[\],]+-transaction-\d+")

log = logging.getLogger("pcneo")

Row = Mapping[str, Any]

_ending: ContextVar[tuple[threading.Event, ...]] = ContextVar("ending", default=())
_patience: ContextVar[float] = ContextVar("patience", default=BLOCKED_SECONDS)


class BlockedError(BusyError):
    """A transaction was ended while it waited for a lock, or left alone in its commit."""


@contextmanager
def patient_until(event: threading.Event) -> Iterator[None]:
    """Inside the block, stop waiting once the event is set, be it for a lock or for a broken connection."""
    before = _ending.set((*_ending.get(), event))
    try:
        yield
    finally:
        _ending.reset(before)


def is_to_end() -> bool:
    """Return whether an event is set that ends the patience of a block around the caller."""
    return any(event.is_set() for event in _ending.get())


@contextmanager
def lock_patience(seconds: float) -> Iterator[None]:
    """Inside the block, wait for a lock for at most this many seconds."""
    before = _patience.set(min(seconds, _patience.get()))
    try:
        yield
    finally:
        _patience.reset(before)


def allowed(limit: float) -> float:
    """Return how many seconds to wait for a lock: `limit`, or fewer if the caller is less patient."""
    return min(limit, _patience.get())


@dataclass(frozen=True)
class Blocker:
    """A transaction that holds what another one needs.

    Attributes:
        id: the server's name for it.
        user, client, since: whose it is, from where, and since when it has been open; None if this user may not see it.
        is_ours: whether some pcneo began it.
    """

    id: str
    user: str | None = None
    client: str | None = None
    since: str | None = None
    is_ours: bool = False

    def __str__(self) -> str:
        """Return a description for people."""
        if self.user is None:
            return f"{self.id}, which this database user may not see"
        return f"user {self.user!r} at {self.client}, since {self.since}, {self.id}"


class Wait:
    """A transaction that is watched.

    Attributes:
        limit: seconds for which it may be blocked.
        ended: whether it was ended, or left alone in its commit, because it was blocked.
        blocker: what it was last seen to wait for.
        is_schema: whether it changes the schema; the server calls such a transaction running even while it waits.
        cut: closes its connection.
    """

    def __init__(
        self, token: str, group: str | None, limit: float, cut: Callable[[], object], *, is_schema: bool = False
    ) -> None:
        """Begin, with the patience of the blocks around the caller."""
        self.limit = limit
        self.is_schema = is_schema
        self.ended = False
        self.blocker: Blocker | None = None
        self.cut = cut
        self.token, self.group = token, group
        self.began = time.monotonic()
        self._blocked_since: float | None = None
        self._commits_since: float | None = None
        self._others: Sequence[Blocker] = ()
        self._is_explained = False
        self._events = _ending.get()

    @property
    def is_hurried(self) -> bool:
        """Whether its work must stop."""
        return any(event.is_set() for event in self._events)

    def is_over(self, blocker: Blocker | None, now: float) -> bool:
        """Note what blocks it, if anything does, and return whether it has been blocked for too long."""
        self.blocker = blocker or self.blocker
        self._blocked_since = None if blocker is None else self._blocked_since or now
        return self._blocked_since is not None and (self.is_hurried or now - self._blocked_since >= self.limit)

    def is_to_leave(self, commits: bool, others: Sequence[Blocker], now: float) -> bool:
        """Note whether it is being committed, and return whether that has lasted so long that it is left alone.

        No one can end a commit that waits for a lock. One that belongs to a group may be left: behind a fence no one
        sees what it writes, and what is loaded is looked for again. Any other is left only if the work must stop.
        """
        self._commits_since = (self._commits_since or now) if commits else None
        self._others = others
        if self._commits_since is None:
            return False
        seconds = now - self._commits_since
        if self.is_hurried:
            return seconds >= ENDING_SECONDS
        if seconds < self.limit:
            return False
        if not self._is_explained:
            self._is_explained = True
            log.warning(
                "A commit has taken %.0f s so far: the server is slow, or the commit is waiting for what an open "
                "transaction holds. Ctrl-C ends the wait. %s",
                seconds,
                self._named_others(),
            )
        return self.group is not None and bool(others)

    def _named_others(self) -> str:
        named = "; ".join(map(str, self._others[:MOST_NAMED]))
        return f"Open: {named}." if named else "No other open transaction is visible to this user."

    def error(self) -> BlockedError:
        """Return the error to raise after it was ended."""
        if self._commits_since is not None:
            return BlockedError(
                "A commit is waiting for what an open transaction holds, and no one can end it, so it was left alone: "
                "it may go through once that transaction is over, and until then the graph is busy. Then run the "
                f"command again to see whether it took effect. {self._named_others()}"
            )
        there = self.blocker
        data = {} if there is None else {"transaction": there.id, "user": there.user, "client": there.client}
        held = "was stopped at once" if self.is_hurried else f"was given up after {self.limit:g} seconds"
        return BlockedError(
            f"An open transaction holds what this one must write, so this one {held}: {there}. Try again once "
            "that one is committed, rolled back or ended.",
            **data,
        )


class Watch:
    """One thread that looks after all transactions of some sessions; it ends when there are none for a moment."""

    def __init__(self, transactions: Callable[[], Sequence[Row]], end: Callable[[str, bool], bool]) -> None:
        """Begin with none."""
        self._transactions = transactions
        self._end = end
        self._lock = threading.Lock()
        self._looking = threading.Lock()
        self._waits: set[Wait] = set()
        self._runs = False
        self._is_closed = False

    def close(self) -> None:
        """Stop looking, and let a look that has begun end: a driver must not be closed while another thread uses it."""
        self._is_closed = True
        if self._looking.acquire(timeout=ENDING_SECONDS):
            self._looking.release()

    @contextmanager
    def over(
        self, token: str, group: str | None, limit: float, cut: Callable[[], object], *, is_schema: bool = False
    ) -> Iterator[Wait]:
        """Watch a transaction inside the block, where it begins and ends."""
        wait = Wait(token, group, allowed(limit), cut, is_schema=is_schema)
        with self._lock:
            self._waits.add(wait)
            if not self._runs:
                self._runs = True
                threading.Thread(target=self._run, daemon=True, name="pcneo-watch").start()
        try:
            yield wait
        except (Exception, GeneratorExit) as error:
            if wait.ended and not isinstance(error, BlockedError):
                raise wait.error() from error
            raise
        except BaseException:
            self._end_interrupted(token)
            raise
        finally:
            with self._lock:
                self._waits.discard(wait)

    def sees_strangers(self) -> bool:
        """Return whether a transaction is open that holds locks and is not one of these."""
        with self._lock:
            tokens = {wait.token for wait in self._waits}
        try:
            return any(row["locks"] and row["token"] not in tokens for row in self._transactions())
        except PcneoError as error:
            log.debug("what is open could not be looked at: %s", error)
            return False

    def _end_interrupted(self, token: str) -> None:
        """End a transaction whose connection is cut: while it is blocked the server does not notice that."""

        def end() -> None:
            with suppress(PcneoError):
                self._end(token, False)

        ending = threading.Thread(target=end, daemon=True, name="pcneo-end")
        ending.start()
        ending.join(ENDING_SECONDS)

    def _run(self) -> None:
        looked = 0.0
        while True:
            time.sleep(TICK_SECONDS)
            with self._lock:
                waits = list(self._waits)
                self._runs = bool(waits)
            if not waits:
                return
            now = time.monotonic()
            is_due = now - looked >= LOOK_SECONDS and any(now - wait.began >= LOOK_SECONDS for wait in waits)
            if is_due or any(wait.is_hurried for wait in waits):
                looked = now
                try:
                    with self._looking:
                        if not self._is_closed:
                            self._look(waits)
                # Someone else's driver may be closed meanwhile, which raises errors of its own; without this thread
                # no one watches.
                except Exception as error:  # noqa: BLE001
                    log.debug("what is blocked could not be looked at: %s", error)

    def _look(self, waits: Sequence[Wait]) -> None:
        rows = {str(row["transaction"]): row for row in self._transactions()}
        ours = {row["token"]: row for row in rows.values() if row["token"] is not None}
        others = [_described(id, rows) for id, row in rows.items() if row["locks"] and row["token"] is None]
        for wait in waits:
            row, now = ours.get(wait.token), time.monotonic()
            blocker = None if row is None else _blocker(row, wait.group, rows)
            if wait.is_schema and row is not None and others:
                blocker = others[0]
            if wait.is_over(blocker, now):
                wait.ended = True  # before it can be noticed
                wait.ended = self._end(wait.token, not wait.is_schema)
            elif wait.is_to_leave(row is not None and row["status"] == "Closing", others, now):
                log.debug("a commit that waits for someone's lock is left alone")
                wait.ended = True
                wait.cut()


def _blocker(row: Row, group: str | None, rows: Mapping[str, Row]) -> Blocker | None:
    """Return what a transaction ultimately waits for, if any transaction outside its group blocks it."""
    for id in _blocking(row):
        if group is None or id not in rows or rows[id]["writer"] != group:
            return _described(_last_of_chain(id, rows), rows)
    return None


def _blocking(row: Row) -> list[str]:
    status = str(row["status"])
    return _TRANSACTION.findall(status) if status.startswith("Blocked") else []


def _last_of_chain(id: str, rows: Mapping[str, Row]) -> str:
    """Follow what blocks it, and what blocks that, to the one that waits for nothing."""
    seen: set[str] = set()
    while id in rows and id not in seen and (further := _blocking(rows[id])):
        seen.add(id)
        id = further[0]
    return id


def _described(id: str, rows: Mapping[str, Row]) -> Blocker:
    row = rows.get(id)
    if row is None:
        return Blocker(id)
    return Blocker(id, row["user"], row["client"], row["since"], is_ours=row["token"] is not None)
