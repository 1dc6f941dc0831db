"""Which versions of Neo4j pcneo works with."""

from __future__ import annotations

import re

from pcneo.errors import ConnectionFailedError

OLDEST_SERVER = "5.23"
"""The first version that understands `CALL (x) { … }`."""


def check_version(version: str) -> None:
    """Refuse an old server before it gets a query that it would misunderstand."""
    if version_number(version) < version_number(OLDEST_SERVER):
        raise ConnectionFailedError(
            f"The server is Neo4j {version}; pcneo needs {OLDEST_SERVER} or later.", version=version
        )


def version_number(text: str) -> tuple[int, int]:
    """Return the first two numbers of a server version: (2026, 9) for `2026.09.0`, (5, 27) for `5.27-aura`."""
    match = re.match(r"(\d+)\.(\d+)", text)
    if match is None:
        raise ConnectionFailedError(f"The server gives its version as {text!r}, which pcneo cannot read.", version=text)
    return int(match[1]), int(match[2])
