"""The unit by which systemd runs a service."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence

__all__ = ["systemd_unit"]

UNIT = """\
[Unit]
Description=pcneo serve: minimal p-cohesions, asked from Cypher
Wants=network-online.target
After=network-online.target neo4j.service

[Service]
# NEO4J_URI, NEO4J_USERNAME, and NEO4J_PASSWORD_FILE or NEO4J_PASSWORD; readable by root alone.
EnvironmentFile=/etc/pcneo/environment
ExecStart={command}
DynamicUser=yes
CacheDirectory=pcneo
Environment=NUMBA_CACHE_DIR=%C/pcneo
# The grace of the request under way, and time to give it back.
TimeoutStopSec={stop:.0f}
Restart=on-failure
RestartSec=5
# A mistake in the configuration does not go away by itself.
RestartPreventExitStatus=2 5
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=read-only

[Install]
WantedBy=multi-user.target
"""


def systemd_unit(arguments: Sequence[str], grace: float) -> str:
    """Return a unit that serves with these arguments.

    Args:
        arguments: of `pcneo serve`.
        grace: seconds that a request under way is given when the service is to end.
    """
    command = shlex.join([sys.executable, "-m", "pcneo", "serve", *arguments]).replace("%", "%%")
    return UNIT.format(command=command, stop=grace + 30)
