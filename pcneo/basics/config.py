"""The version of this package, and the connection settings: read from the environment and validated in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from pcneo.basics.visible import is_utf8
from pcneo.errors import ConnectionFailedError

__version__ = "0.2.0"

VARIABLES = ("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE")
ARGUMENTS = ("uri", "auth", "auth", "database")
"""The names of the same settings as arguments in Python."""

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


@dataclass(frozen=True)
class ConnectionSettings:
    """How to reach a database.

    Attributes:
        uri: Bolt address, for example `neo4j://db.example.org:7687`.
        username: name of the database user.
        password: kept out of `repr`, so that no log or traceback shows it.
        database: None for the user's home database.
        names: what messages call these four settings: environment variables, or arguments.
    """

    uri: str
    username: str
    password: str = field(repr=False)
    database: str | None = None
    names: tuple[str, str, str, str] = field(default=VARIABLES, repr=False, compare=False)


def read_environment(
    environ: Mapping[str, str],
    ask_password: Callable[[str], str] | None = None,
    auth: tuple[str, str] | None = None,
) -> ConnectionSettings | None:
    """Return the settings from `NEO4J_URI`, `NEO4J_USERNAME` (or `NEO4J_USER`), `NEO4J_PASSWORD`, `NEO4J_DATABASE`.

    The password may also come from a file that `NEO4J_PASSWORD_FILE` names, or from the user when asked. `auth`, a
    user and a password, overrides these.

    Returns:
        The settings; None if `NEO4J_URI` is not set.
    """
    uri = environ.get("NEO4J_URI", "").strip()
    if not uri:
        return None
    if auth is not None:
        return validate(ConnectionSettings(uri, *auth, environ.get("NEO4J_DATABASE") or None))
    username = environ.get("NEO4J_USERNAME") or environ.get("NEO4J_USER") or "neo4j"
    password = environ.get("NEO4J_PASSWORD")
    if password is None and (file := environ.get("NEO4J_PASSWORD_FILE")):
        password = _read_password(Path(file))
    if password is None and ask_password is not None:
        password = ask_password(username)
    if password is None:
        raise ConnectionFailedError(
            f"No password for user {username!r}. Set NEO4J_PASSWORD, or NEO4J_PASSWORD_FILE to a file that holds it; "
            "any password will do if authentication is off on the server.",
            username=username,
        )
    return validate(ConnectionSettings(uri, username, password, environ.get("NEO4J_DATABASE") or None))


def _read_password(file: Path) -> str:
    try:
        password = file.read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r")
    except (OSError, UnicodeDecodeError) as error:
        raise ConnectionFailedError(
            f"NEO4J_PASSWORD_FILE names {str(file)!r}, which cannot be read: {getattr(error, 'strerror', 'not text')}.",
            path=str(file),
        ) from error
    if not password:
        raise ConnectionFailedError(
            f"NEO4J_PASSWORD_FILE names {str(file)!r}, which is empty: put the password in it.", path=str(file)
        )
    return password


def validate(settings: ConnectionSettings) -> ConnectionSettings:
    """Return `settings` unchanged if the address is one that the driver understands."""
    called, user, password, _ = settings.names
    texts = (settings.uri, settings.username, settings.password, settings.database or "")
    for variable, text in zip(settings.names, texts, strict=True):
        if not is_utf8(text):  # an environment variable may hold any bytes
            raise ConnectionFailedError(f"{variable} holds bytes that are not UTF-8.", variable=variable)
    if "@" in settings.uri:
        raise ConnectionFailedError(
            f"{called} contains a user name or password. Take it out and "
            f"{f'give {user}' if user == password else f'set {user} and {password}'}."
        )
    try:
        parts = urlsplit(settings.uri)
        scheme, host, _ = parts.scheme, parts.hostname, parts.port
        (host or "").encode("idna")  # as the driver does; labels have 1 to 63 characters
    except ValueError as error:
        raise ConnectionFailedError(f"{called} is {settings.uri!r}: {error}.", uri=settings.uri) from error
    if scheme in ("http", "https"):
        raise ConnectionFailedError(
            f"{called} is {settings.uri!r}, Neo4j's HTTP address. Use its Bolt address, "
            f"usually neo4j{'+s' if scheme == 'https' else ''}://{host}:7687.",
            uri=settings.uri,
        )
    if scheme not in SCHEMES or not host:
        raise ConnectionFailedError(
            f"{called} is {settings.uri!r}. It must look like neo4j://host:7687; schemes: {', '.join(SCHEMES)}.",
            uri=settings.uri,
        )
    return settings
