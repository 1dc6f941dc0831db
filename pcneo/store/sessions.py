"""Running statements on one database: access mode, bookmarks, retries, watched waits, translated errors.

All sessions share the driver's bookmarks, so a read on a follower sees our own writes. They receive no notifications
below warnings.
"""

from __future__ import annotations

import sys
import uuid
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, LiteralString, Self, TypeVar

import neo4j

from pcneo.store.failures import translated
from pcneo.store.server_version import check_version
from pcneo.store.statements import Statement, load_statement
from pcneo.store.transaction import (
    Row,
    Transaction,
    begun,
    in_one_trip,
    in_transaction,
    interruption_behind,
    noticing_breaks,
    rows_of,
)
from pcneo.store.waiting import BLOCKED_SECONDS, Wait, Watch

T = TypeVar("T")
Work = TypeVar("Work", bound=Callable[..., Any])


@dataclass
class _Server:
    """What is known of a server since the connection to it last broke; shared by all views of a database."""

    version: str | None = None
    home: str | None = None


class Sessions:
    """Runs statements on one database of one driver, and holds nothing of what is stored there.

    Attributes:
        driver: connected.
        marks: metadata of its transactions, by which they are found in the server's list.
        waits: looks after all transactions that write.
    """

    marks: Mapping[str, str] = MappingProxyType({})

    def __init__(self, driver: neo4j.Driver, name: str | None = None) -> None:
        """Take a driver, and a database's name; None for the user's home database. Nothing is asked yet."""
        self.driver = driver
        self._name = name
        self._server = _Server()
        self.waits = Watch(
            lambda: self.read("list_transactions", database=self.real_name),
            lambda token, blocked: self.end_transactions("terminate_transaction", token=token, blocked=blocked),
        )

    @property
    def name(self) -> str:
        """The database's name."""
        return self._name or self._known().home or ""

    @property
    def real_name(self) -> str:
        """The name by which the server lists the database's transactions, also if `name` is an alias."""
        return self._known().home or ""

    @property
    def version(self) -> str:
        """The server's version; asked for again where the connection has broken since."""
        return self._known().version or ""

    def _known(self) -> _Server:
        """Return what is known of the server, which is asked once."""
        if self._server.version is None:
            statement = load_statement("get_server").render({})
            with translated(), open_session(self.driver, self._name, neo4j.READ_ACCESS) as session:
                record, summary = in_transaction(session, _single_with_summary, statement)
            check_version(record["version"])
            self._server.home, self._server.version = str(summary.database), record["version"]
        return self._server

    def _forget(self) -> None:
        """Forget the version: the connection has broken, and another server may answer next."""
        self._server.version = None

    def marked(self, marks: Mapping[str, str]) -> Self:
        """Return a view of the same database with other marks, for one operation."""
        other = copy(self)
        other.marks = marks
        return other

    @contextmanager
    def session(self, access: str) -> Iterator[neo4j.Session]:
        """Open a session on this database for reading or writing; see `open_session`."""
        home = self._known().home
        with noticing_breaks(self._forget), open_session(self.driver, self._name or home, access) as session:
            yield session

    def run_statement(
        self, statement: Statement, names: Mapping[str, str | Sequence[str]], parameters: Mapping[str, Any]
    ) -> list[Row]:
        """Run a statement that reads, in a transaction that may be repeated, and return its rows."""
        text = statement.render(names)
        with translated(), self.session(neo4j.READ_ACCESS) as session:
            return in_one_trip(session, text, dict(parameters), self.marks)

    def read(
        self, statement: str, names: Mapping[str, str | Sequence[str]] | None = None, /, **parameters: Any
    ) -> list[Row]:
        """Run a statement of `cypher/read`, and return its rows."""
        return self.run_statement(load_statement(statement), names or {}, parameters)

    def write(
        self, statement: str, names: Mapping[str, str | Sequence[str]] | None = None, /, **parameters: Any
    ) -> list[Row]:
        """Run a statement of `cypher/write` in a transaction of its own, and return its rows."""
        text = load_statement(statement).render(names or {})
        return self.committed(rows_of, text, parameters)

    def end_transactions(self, statement: str, **parameters: Any) -> bool:
        """Run a statement that ends other transactions, unwatched; return whether it has ended any."""
        text = load_statement(statement).render({})
        with translated(), self.session(neo4j.WRITE_ACCESS) as session:
            return bool(in_transaction(session, rows_of, text, parameters))

    def committed(
        self,
        work: Callable[..., T],
        *arguments: Any,
        metadata: Mapping[str, str] = MappingProxyType({}),
        limit: float = BLOCKED_SECONDS,
        is_schema: bool = False,
    ) -> T:
        """Return `work(transaction, *arguments)`, committed, in a watched transaction that may be repeated."""

        @contextmanager
        def begin(session: neo4j.Session) -> Iterator[neo4j.Transaction]:
            with self._watched(session, metadata, limit=limit, is_schema=is_schema) as (opened, _):
                yield opened

        with translated(), self.session(neo4j.WRITE_ACCESS) as session:
            return in_transaction(session, work, *arguments, begin=begin)

    @contextmanager
    def transaction(
        self, metadata: Mapping[str, str], *, timeout: float = 0, limit: float = BLOCKED_SECONDS
    ) -> Iterator[Transaction]:
        """Open a write transaction; it is rolled back unless the body commits it."""
        with (
            translated(),
            self.session(neo4j.WRITE_ACCESS) as session,
            self._watched(session, metadata, timeout=timeout, limit=limit) as (opened, wait),
        ):
            yield Transaction(opened, wait)

    @contextmanager
    def _watched(
        self,
        session: neo4j.Session,
        metadata: Mapping[str, str],
        *,
        timeout: float | None = None,
        limit: float,
        is_schema: bool = False,
    ) -> Iterator[tuple[neo4j.Transaction, Wait]]:
        token = uuid.uuid4().hex
        values = {**self.marks, **metadata, "pcneo": token}
        with (
            self.waits.over(
                token, values.get("pcneoWriter"), limit, partial(_cut, session), is_schema=is_schema
            ) as wait,
            begun(session, values, timeout=timeout) as opened,
        ):
            yield opened, wait


@contextmanager
def open_session(driver: neo4j.Driver, database: str | None, access: str) -> Iterator[neo4j.Session]:
    """Open a session for reading or writing, which is closed after the block.

    Where the block is interrupted (Ctrl-C, a signal) its connection is cut, and the server undoes what was under way.
    The driver would first wait for the server's answer, and cannot read one that it has read half of: where it tries
    to, in a `finally` of its own, its error takes the place of the interruption, which is raised here all the same.
    """
    earlier = sys.exception()
    session = driver.session(**session_options(driver, database, access))
    try:
        yield session
        session.close()
    except BaseException as error:
        if (interruption := interruption_behind(error, earlier)) is None:
            session.close()
            raise
        _cut(session)
        if isinstance(error, GeneratorExit):
            raise
        raise interruption from None


def limited(work: Work) -> Work:
    """Have the server end the transactions in which the driver calls `work` after `BLOCKED_SECONDS`."""
    return neo4j.unit_of_work(timeout=BLOCKED_SECONDS)(work)


def _cut(session: neo4j.Session) -> None:
    """Cut the connection of a session; a thread that waits for the server in it goes on with an error."""
    session.__exit__(CancelledError, None, None)  # for this kind of error the driver cuts it


def session_options(driver: neo4j.Driver | neo4j.AsyncDriver, database: str | None, access: str) -> dict[str, Any]:
    """Return the options of a session, blocking or not, on one database of a driver, for reading or writing."""
    return {
        "database": database,
        "default_access_mode": access,
        "bookmark_manager": driver.execute_query_bookmark_manager,
        "notifications_min_severity": neo4j.NotificationMinimumSeverity.WARNING,
        # A label, type or property that is not in use is not a mistake here: ours are new at first.
        "notifications_disabled_classifications": [neo4j.NotificationDisabledClassification.UNRECOGNIZED],
    }


def _single_with_summary(tx: neo4j.Transaction, text: LiteralString) -> tuple[neo4j.Record, neo4j.ResultSummary]:
    result = tx.run(text)
    record = result.single(strict=True)
    return record, result.consume()
