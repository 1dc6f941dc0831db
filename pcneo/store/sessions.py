"""Running statements on one database: access mode, bookmarks, retries, translated errors.

All sessions share the driver's bookmarks, so a read on a follower sees our own writes. They receive no notifications
below warnings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString

import neo4j

from pcneo.store.connection import check_version
from pcneo.store.failures import translated
from pcneo.store.statements import Statement, load_statement
from pcneo.store.transaction import Row, Transaction, in_one_trip, in_transaction, rows_of

__all__ = ["Sessions"]


class Sessions:
    """Runs statements on one database of one driver."""

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

    def session(self, access: str) -> neo4j.Session:
        """Open a session on this database for reading or writing."""
        return self.driver.session(
            database=self._database,
            default_access_mode=access,
            bookmark_manager=self.driver.execute_query_bookmark_manager,
            notifications_min_severity=neo4j.NotificationMinimumSeverity.WARNING,
            # A label, type or property without uses is no mistake here: ours are new at first.
            notifications_disabled_classifications=[neo4j.NotificationDisabledClassification.UNRECOGNIZED],
        )

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
            return in_transaction(session, rows_of, text, parameters)

    @contextmanager
    def transaction(self, metadata: Mapping[str, Any]) -> Iterator[Transaction]:
        """Open a write transaction without a time limit; it is rolled back unless the body commits it."""
        with translated(), self.session(neo4j.WRITE_ACCESS) as session:
            opened = session.begin_transaction(metadata=dict(metadata), timeout=0)
            try:
                yield Transaction(opened)
            finally:
                opened.close()


def _single_with_summary(tx: neo4j.Transaction, text: LiteralString) -> tuple[neo4j.Record, neo4j.ResultSummary]:
    result = tx.run(text)
    record = result.single(strict=True)
    return record, result.consume()
