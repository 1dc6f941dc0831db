"""The settings of the local Neo4j: small, on the loopback address only, and without telemetry.

LOCAL-SERVER.md#what-a-local-neo4j-needs has the facts behind the settings.

We start the server's main class, not its launcher, which would start it with the same arguments but stay as a second
Java process. `Neo4jCommand console --dry-run` prints what the launcher of a version would start.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HOST = "127.0.0.1"
USERNAME = "neo4j"
HEAP = "512m"
PAGE_CACHE = "256m"

SETTINGS = {
    "server.default_listen_address": HOST,
    "server.http.enabled": "false",
    "server.https.enabled": "false",
    "server.directories.import": "import",  # without it LOAD CSV could read any file, the password too
    "server.memory.heap.max_size": HEAP,
    "server.memory.pagecache.size": PAGE_CACHE,
    "dbms.usage_report.enabled": "false",
    "db.tx_log.preallocate": "false",
    "server.bolt.connection_keep_alive": "25s",  # after twice that without a sign of life, clients give up a connection
}


@dataclass(frozen=True)
class Line:
    """What differs between Neo4j's release lines: the main class, and settings that only one line knows.

    The quiet period is the ten seconds that a stopping server waits for new connections to end.
    """

    main_class: str
    settings: Mapping[str, str]


LINE_5 = Line(
    main_class="org.neo4j.server.CommunityEntryPoint",
    settings={"internal.dbms.bolt.netty_server_shutdown_quiet_period": "0"},
)
LINE_2026 = Line(
    main_class="org.neo4j.server.Neo4jCommunity",
    settings={
        "internal.dbms.bolt.netty_server_shutdown_quiet_period_duration": "0s",
        "server.fleet_discovery.enabled": "false",  # it would announce itself on the local network
        "dbms.fleet_manager.enabled": "false",
    },
)


def java_arguments(jars: Sequence[Path], version: str) -> list[str]:
    """Return Java's arguments for a Neo4j version, the main class last."""
    return [
        "-cp",
        os.pathsep.join(f"{folder}/*" for folder in jars),
        "-Dfile.encoding=UTF-8",
        f"-Xmx{HEAP}",
        _line(version).main_class,
    ]


def earlier_ports(data: Path) -> tuple[int | None, int | None]:
    """Return the Bolt port and Browser's port of the start before, from neo4j.conf; None for one that it lacks."""
    try:
        text = (data / "conf" / "neo4j.conf").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None, None
    bolt, http = (
        re.search(rf"^server\.{kind}\.listen_address=.*:(\d{{1,5}})$", text, re.M) for kind in ("bolt", "http")
    )
    return _port(bolt), _port(http)


def _port(match: re.Match[str] | None) -> int | None:
    return int(match[1]) if match and 0 < int(match[1]) < 65536 else None


def settings_text(port: int, version: str, further: Mapping[str, str] | None = None) -> str:
    """Return the content of neo4j.conf."""
    settings = {
        **SETTINGS,
        **_line(version).settings,
        "server.bolt.listen_address": f"{HOST}:{port}",
        "server.bolt.advertised_address": f"{HOST}:{port}",
        **(further or {}),
    }
    return "# Written by pcneo at every start.\n" + "".join(f"{name}={value}\n" for name, value in settings.items())


def _line(version: str) -> Line:
    return LINE_5 if version.startswith("5.") else LINE_2026
