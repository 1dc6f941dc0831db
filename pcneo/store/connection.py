"""Opening a driver: one function, and the checks that come before any work."""

from __future__ import annotations

import re

import neo4j

from pcneo.config import ConnectionSettings, __version__, validate
from pcneo.errors import ConnectionFailedError
from pcneo.store.failures import translated

__all__ = ["OLDEST_SERVER", "check_version", "connect", "version_number"]

OLDEST_SERVER = (5, 23)
"""`CALL (x) { … }` is understood from here on."""


def connect(settings: ConnectionSettings) -> neo4j.Driver:
    """Return a driver that has reached the server and been let in.

    Raises:
        ConnectionFailedError: the address, the server or the password is wrong; one line says which.
    """
    validate(settings)
    with translated():
        driver = neo4j.GraphDatabase.driver(
            settings.uri,
            auth=(settings.username, settings.password),
            user_agent=f"pcneo/{__version__}",
            # A dead address is said within seconds; the work's own transactions keep the driver's patience.
            connection_timeout=10,
        )
    try:
        with translated():
            agent = driver.get_server_info().agent
        check_version(agent.removeprefix("Neo4j/"))
    except BaseException:
        driver.close()
        raise
    return driver


def check_version(version: str) -> None:
    """Refuse an old server before anything is asked that it would misunderstand.

    Raises:
        ConnectionFailedError: it is older than `OLDEST_SERVER`.
    """
    if version_number(version) < OLDEST_SERVER:
        oldest = ".".join(map(str, OLDEST_SERVER))
        raise ConnectionFailedError(f"The server is Neo4j {version}; pcneo needs {oldest} or later.", version=version)


def version_number(text: str) -> tuple[int, int]:
    """Return the first two numbers of a server version: (2026, 9) for `2026.09.0`, (5, 27) for `5.27-aura`.

    Raises:
        ConnectionFailedError: the text does not begin with two numbers.
    """
    match = re.match(r"(\d+)\.(\d+)", text)
    if match is None:
        raise ConnectionFailedError(f"The server gives its version as {text!r}, which pcneo cannot read.", version=text)
    return int(match[1]), int(match[2])
