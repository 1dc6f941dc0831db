"""Whether a server that was just started answers, and its first login, which must change the password."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Literal

import neo4j
from neo4j.exceptions import AuthError, DriverError, Neo4jError

__all__ = ["Answer", "change_password", "say_hello"]

log = logging.getLogger("pcneo")

Answer = Literal["ready", "refused", "silent"]
"""The server did what it was asked; it refused the password; it did not answer yet."""


def say_hello(uri: str, username: str, password: str) -> Answer:
    """Ask the database `neo4j` for nothing but an answer."""
    return _asked(uri, username, password, lambda driver: driver.execute_query("RETURN 1", database_="neo4j"))


def change_password(uri: str, username: str, old: str, new: str) -> Answer:
    """Give a user a new password, which is sent as a parameter and appears in no process list or log."""
    return _asked(
        uri,
        username,
        old,
        lambda driver: driver.execute_query(
            "ALTER CURRENT USER SET PASSWORD FROM $old TO $new", old=old, new=new, database_="system"
        ),
    )


def _asked(uri: str, username: str, password: str, ask: Callable[[neo4j.Driver], object]) -> Answer:
    try:
        with neo4j.GraphDatabase.driver(
            uri, auth=(username, password), connection_timeout=5, max_transaction_retry_time=0, telemetry_disabled=True
        ) as driver:
            ask(driver)
    except AuthError:
        return "refused"
    except (DriverError, Neo4jError) as error:
        log.debug("The server at %s does not answer yet: %s", uri, error)
        return "silent"
    return "ready"
