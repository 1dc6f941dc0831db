"""Connecting to a database, and the checks before any work."""

from __future__ import annotations

import os
from dataclasses import replace

import neo4j
from neo4j.exceptions import ConfigurationError

from pcneo.basics.config import ARGUMENTS, ConnectionSettings, __version__, read_environment, validate
from pcneo.errors import ConnectionFailedError, ParameterError
from pcneo.store.database import Database
from pcneo.store.failures import translated
from pcneo.store.server_version import OLDEST_SERVER, check_version


def connect(
    uri: str | None = None,
    *,
    auth: tuple[str, str] | None = None,
    database: str | None = None,
    driver: neo4j.Driver | None = None,
) -> Database:
    """Return a database that has been reached and logged in to.

    Use it in a `with` block, or `close` it. A driver that you pass stays open, and you close it yourself.

    Args:
        uri: its Bolt address, such as `neo4j://localhost`; None to use `NEO4J_URI`, `NEO4J_USERNAME`,
            `NEO4J_PASSWORD` and `NEO4J_DATABASE`.
        auth: user and password; needed with an address, and otherwise used instead of those that are found.
        database: its name; None for the user's home database.
        driver: an open driver of Neo4j's, instead of an address.

    Raises:
        ConnectionFailedError: no address is known, the address or the password is wrong, no server answers, or the
            server is too old or lacks this database; the message says which.
        RightsError: the user may not use this database.
        ParameterError: an address without a user, or an address together with a driver.
    """
    settings = settings_of(uri, auth, database, driver)
    if driver is None:
        return connect_to(settings)
    reached = Database(driver, database)
    _ = reached.version  # which is checked when it is asked
    return reached


def settings_of(
    uri: str | None, auth: tuple[str, str] | None, database: str | None, driver: object
) -> ConnectionSettings | None:
    """Return what the arguments name, else what the environment does; None beside a driver, or if neither does."""
    if driver is not None:
        if uri is not None or auth is not None:
            raise ParameterError("A driver has its address already; leave uri and auth out.", name="uri", value=uri)
        return None
    if uri is None:
        settings = read_environment(os.environ, auth=auth)
        return settings if settings is None or database is None else replace(settings, database=database)
    if auth is None:
        raise ParameterError("An address needs auth=(user, password).", name="auth", value=None)
    return ConnectionSettings(uri, *auth, database, names=ARGUMENTS)


def connect_to(settings: ConnectionSettings | None) -> Database:
    """Return a database that owns its driver, which does not warn of labels, types or properties not in use yet."""
    if settings is None:
        raise ConnectionFailedError(
            "NEO4J_URI is not set, and no local server was found. `pcneo server start` starts one, as "
            "pcneo.start_server() does in Python; for another server set NEO4J_URI, NEO4J_USERNAME and NEO4J_PASSWORD."
        )
    validate(settings)
    with translated(settings.uri):
        driver = neo4j.GraphDatabase.driver(
            settings.uri,
            auth=(settings.username, settings.password),
            user_agent=f"pcneo/{__version__}",
            # A dead address fails within seconds; transactions keep the driver's own, longer patience.
            connection_timeout=10,
            connection_acquisition_timeout=20,
            # Otherwise each of the user's own queries is warned of our labels and properties that are not in use yet.
            notifications_disabled_classifications=[neo4j.NotificationDisabledClassification.UNRECOGNIZED],
        )
    try:
        with translated(settings.uri):
            agent = _agent(driver)
        check_version(agent.removeprefix("Neo4j/"))
        reached = Database(driver, settings.database, owns_driver=True, uri=settings.uri)
        _ = reached.version  # asked in the database, which may not be there
    except BaseException:
        driver.close()
        raise
    return reached


async def connect_async(settings: ConnectionSettings) -> neo4j.AsyncDriver:
    """Return an asynchronous driver that has reached its database."""
    validate(settings)
    with translated(settings.uri):
        driver = neo4j.AsyncGraphDatabase.driver(
            settings.uri, auth=(settings.username, settings.password), user_agent=f"pcneo/{__version__}"
        )
        try:
            await driver.verify_connectivity()
        except BaseException:
            await driver.close()
            raise
    return driver


def _agent(driver: neo4j.Driver) -> str:
    try:
        return driver.get_server_info().agent
    except ConfigurationError as error:
        if "otification" not in str(error):
            raise
        needed = f"The server is older than Neo4j 5.7; pcneo needs {OLDEST_SERVER} or later."
        raise ConnectionFailedError(needed) from error
