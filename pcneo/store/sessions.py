"""Running statements on one database: access mode, bookmarks, retries, translated errors.

All sessions share the driver's bookmarks, so a read on a follower sees our own writes. They receive no notifications
below warnings.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from types import MappingProxyType
from typing import Any, LiteralString, Self

import neo4j

from pcneo.store.connection import check_version
from pcneo.store.failures import translated
from pcneo.store.statements import Statement, load_statement
from pcneo.store.transaction import Row, Transaction, begun, in_one_trip, in_transaction, rows_of

__all__ = ["Sessions", "open_session", "session_options"]


class Sessions:
    """Runs statements on one database of one driver.

    Attributes:
        version: the server's.
        database: the database's name.
        marks: metadata of every transaction that writes, by which it is found in the server's list.
    """

    marks: Mapping[str, str] = MappingProxyType({})

    def __init__(self, driver: neo4j.Driver, database: str | None = None) -> None:
        """Find out the server's version and, if no database is named, the user's home database.

        Args:
            driver: a connected driver.
            database: None for the user's home database.

        Raises:
            ConnectionFailedError: the server is older than 5.23, or there is no such database.
        """
        self.driver = driver
        self._database: str | None = database
        statement = load_statement("get_server").render({})
        with translated(), self.session(neo4j.READ_ACCESS) as session:
            record, summary = in_transaction(session, _single_with_summary, statement)
        self.version: str = record["version"]
        self.database: str = database or str(summary.database)
        self._database = self.database
        check_version(self.version)

    def marked(self, marks: Mapping[str, str]) -> Self:
        """Return the same with other marks."""
        other = copy(self)
        other.marks = marks
        return other

    def session(self, access: str) -> AbstractContextManager[neo4j.Session]:
        """Open a session on this database for reading or writing; see `open_session`."""
        return open_session(self.driver, self._database, access)

    def run_statement(
        self, statement: Statement, names: Mapping[str, str | Sequence[str]], parameters: Mapping[str, Any]
    ) -> list[Row]:
        """Run a statement that reads, in a transaction that may be repeated, and return its rows.

        Args:
            statement: the statement.
            names: the user's names for its sample names.
            parameters: the values of its parameters.
        """
        text = statement.render(names)
        with translated(), self.session(neo4j.READ_ACCESS) as session:
            return in_one_trip(session, text, dict(parameters))

    def _read(
        self, name: str, names: Mapping[str, str | Sequence[str]] | None = None, /, **parameters: Any
    ) -> list[Row]:
        return self.run_statement(load_statement(name), names or {}, parameters)

    def _write(
        self, name: str, names: Mapping[str, str | Sequence[str]] | None = None, /, **parameters: Any
    ) -> list[Row]:
        text = load_statement(name).render(names or {})
        with translated(), self.session(neo4j.WRITE_ACCESS) as session:
            return in_transaction(session, rows_of, text, parameters, metadata=self.marks)

    @contextmanager
    def transaction(self, metadata: Mapping[str, Any], *, timeout: float = 0) -> Iterator[Transaction]:
        """Open a write transaction; it is rolled back unless the body commits it.

        Args:
            metadata: shows in the server's list of transactions, beside the marks.
            timeout: seconds after which the server ends it; 0 for never.
        """
        with (
            translated(),
            self.session(neo4j.WRITE_ACCESS) as session,
            begun(session, {**self.marks, **metadata}, timeout=timeout) as opened,
        ):
            yield Transaction(opened)


@contextmanager
def open_session(driver: neo4j.Driver, database: str | None, access: str) -> Iterator[neo4j.Session]:
    """Open a session for reading or writing, which is closed after the block.

    Where the block is interrupted (Ctrl-C, a signal) its connection is cut, and the server undoes what was under way.
    The driver would first wait for the server's answer, and cannot read one that it has read half of.
    """
    session = driver.session(**session_options(driver, database, access))
    try:
        yield session
    except (Exception, GeneratorExit):
        session.close()
        raise
    except BaseException:
        session.__exit__(CancelledError, None, None)  # for this kind the driver cuts the connection
        raise
    else:
        session.close()


def session_options(driver: neo4j.Driver | neo4j.AsyncDriver, database: str | None, access: str) -> dict[str, Any]:
    """Return the options of a session, blocking or not, on one database of a driver, for reading or writing."""
    return {
        "database": database,
        "default_access_mode": access,
        "bookmark_manager": driver.execute_query_bookmark_manager,
        "notifications_min_severity": neo4j.NotificationMinimumSeverity.WARNING,
        # A label, type or property without uses is no mistake here: ours are new at first.
        "notifications_disabled_classifications": [neo4j.NotificationDisabledClassification.UNRECOGNIZED],
    }


def _single_with_summary(tx: neo4j.Transaction, text: LiteralString) -> tuple[neo4j.Record, neo4j.ResultSummary]:
    result = tx.run(text)
    record = result.single(strict=True)
    return record, result.consume()
