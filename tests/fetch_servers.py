"""Fetches Neo4j into the cache while the gate and the first tests need none: `python tests/fetch_servers.py`."""

from __future__ import annotations

from neo4j_servers import VERSIONS

from pcneo.server.browser import ensure_browser
from pcneo.server.jars import ensure_jars


def main() -> None:
    """Fetch both lines that tests start, and Browser; what fails here fails in a test, which says why."""
    for version, _ in VERSIONS.values():
        ensure_jars(version)
    ensure_browser()


if __name__ == "__main__":
    main()
