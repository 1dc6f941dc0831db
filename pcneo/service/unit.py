"""The unit with which systemd runs a service."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

REMOVE_SECONDS = 280
"""For a request for a whole graph: removing what some minutes wrote takes about one minute, more on a busy machine."""

_TAKE_PATHS = ("--config", "--data")

UNIT = """\
[Unit]
Description=pcneo serve: minimal p-cohesions, asked for in Cypher
Wants=network-online.target
After=network-online.target neo4j.service

[Service]
# NEO4J_URI, NEO4J_USERNAME and NEO4J_PASSWORD; readable only by root, since systemd reads it for the service.
EnvironmentFile=/etc/pcneo/environment
ExecStart={command}
# A user for itself, with a /tmp for itself. It usually cannot read home folders: install pcneo elsewhere.
DynamicUser=yes
CacheDirectory=pcneo
Environment=NUMBA_CACHE_DIR=%C/pcneo
# The grace of the request under way ({grace:g} s), then time to remove what it wrote ({removing:g} s).
TimeoutStopSec={stop:.0f}
Restart=on-failure
RestartSec=5
# A mistake in the configuration does not go away by itself. The service waits for a database that is down.
RestartPreventExitStatus=2 5
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=read-only

[Install]
WantedBy=multi-user.target
"""


def systemd_unit(arguments: Sequence[str], grace: float) -> str:
    """Return a unit that runs pcneo with these arguments, `serve` among them."""
    command = " ".join(map(_word, [sys.executable, "-m", "pcneo", *_with_whole_paths(arguments)]))
    return UNIT.format(command=command, grace=grace, removing=REMOVE_SECONDS, stop=grace + REMOVE_SECONDS)


def _with_whole_paths(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the arguments, with whole paths: systemd starts the command in another folder."""
    before = ""
    for argument in arguments:
        option, equals, value = argument.partition("=")
        if before in _TAKE_PATHS:
            yield _whole(argument)
        elif option in _TAKE_PATHS and equals:
            yield f"{option}={_whole(value)}"
        else:
            yield argument
        before = argument


def _whole(path: str) -> str:
    return str(Path(path).expanduser().resolve())


def _word(argument: str) -> str:
    """Return an argument as systemd reads it: its quotes are not a shell's, and % and $ are special inside them too."""
    text = argument.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("%", "%%").replace("$", "$$")
    return text if shlex.quote(argument) == argument else f'"{text}"'
