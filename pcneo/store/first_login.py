"""The first contact with a new server: whether it answers, and the change of its initial password."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Literal

import neo4j
from neo4j.exceptions import AuthError, DriverError, Neo4jError

log = logging.getLogger("pcneo")

Answer = Literal["ready", "refused", "silent"]
"""The server did it; it refused the password; it does not answer yet."""


def say_hello(uri: str, username: str, password: str) -> Answer:
    """Find out whether the database `neo4j` answers."""
    return _answer(uri, username, password, lambda driver: driver.execute_query("RETURN 1", database_="neo4j"))


def change_password(uri: str, username: str, old: str, new: str) -> Answer:
    """Give a user a new password; it is sent as a parameter, so no process list or log shows it."""
    return _answer(
        uri,
        username,
        old,
        lambda driver: driver.execute_query(
            "ALTER CURRENT USER SET PASSWORD FROM $old TO $new", old=old, new=new, database_="system"
        ),
    )


def _answer(uri: str, username: str, password: str, work: Callable[[neo4j.Driver], object]) -> Answer:
    try:
        with neo4j.GraphDatabase.driver(
            uri, auth=(username, password), connection_timeout=5, max_transaction_retry_time=0, telemetry_disabled=True
        ) as driver:
            work(driver)
    except AuthError:
        return "refused"
    except (DriverError, Neo4jError) as error:
        log.debug("The server at %s does not answer yet: %s", uri, error)
        return "silent"
    return "ready"
