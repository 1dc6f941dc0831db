"""Opening a driver, and the checks before any work."""

from __future__ import annotations

import re

import neo4j
from neo4j.exceptions import ConfigurationError

from pcneo.basics.config import ConnectionSettings, __version__, validate
from pcneo.errors import ConnectionFailedError
from pcneo.store.failures import translated

__all__ = ["OLDEST_SERVER", "check_version", "connect", "version_number"]

OLDEST_SERVER = (5, 23)
"""The first version that understands `CALL (x) { … }`."""


def connect(settings: ConnectionSettings | None) -> neo4j.Driver:
    """Return a driver that has reached the server and logged in.

    It warns of no label, type or property that the database does not have yet.

    Args:
        settings: where the database is; `read_environment` makes them, or returns None where it finds no address.

    Raises:
        ConnectionFailedError: there is no address, it or the password is wrong, no server answers, or it is too old;
            the message says which.
    """
    if settings is None:
        raise ConnectionFailedError(
            "NEO4J_URI is not set. Set it, NEO4J_USERNAME and NEO4J_PASSWORD; `pcneo server status` tells those of a "
            "local server."
        )
    validate(settings)
    with translated():
        driver = neo4j.GraphDatabase.driver(
            settings.uri,
            auth=(settings.username, settings.password),
            user_agent=f"pcneo/{__version__}",
            # A dead address fails within seconds; transactions keep the driver's own, longer patience.
            connection_timeout=10,
            connection_acquisition_timeout=20,
            # Else each query of a user's own is told of labels and properties of ours that have no use yet.
            notifications_disabled_classifications=[neo4j.NotificationDisabledClassification.UNRECOGNIZED],
        )
    try:
        with translated():
            agent = _agent(driver)
        check_version(agent.removeprefix("Neo4j/"))
    except BaseException:
        driver.close()
        raise
    return driver


def _agent(driver: neo4j.Driver) -> str:
    try:
        return driver.get_server_info().agent
    except ConfigurationError as error:
        if "otification" not in str(error):
            raise
        raise ConnectionFailedError(f"The server is older than Neo4j 5.7; pcneo needs {_oldest()} or later.") from error


def check_version(version: str) -> None:
    """Refuse an old server before it gets a query that it would misunderstand.

    Raises:
        ConnectionFailedError: it is older than `OLDEST_SERVER`.
    """
    if version_number(version) < OLDEST_SERVER:
        raise ConnectionFailedError(
            f"The server is Neo4j {version}; pcneo needs {_oldest()} or later.", version=version
        )


def _oldest() -> str:
    return ".".join(map(str, OLDEST_SERVER))


def version_number(text: str) -> tuple[int, int]:
    """Return the first two numbers of a server version: (2026, 9) for `2026.09.0`, (5, 27) for `5.27-aura`.

    Raises:
        ConnectionFailedError: the text does not begin with two numbers.
    """
    match = re.match(r"(\d+)\.(\d+)", text)
    if match is None:
        raise ConnectionFailedError(f"The server gives its version as {text!r}, which pcneo cannot read.", version=text)
    return int(match[1]), int(match[2])
