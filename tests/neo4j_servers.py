"""The real Neo4j under the integration tests.

In this order: the database that PCNEO_TEST_URI names (with PCNEO_TEST_USERNAME, _PASSWORD, _DATABASE), which must be
empty; Neo4j in Docker if an engine answers; a local server on a temporary folder.
"""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

VERSIONS = {"2026.09": ("2026.09.0", "neo4j:2026.09.0"), "5.26": ("5.26.25", "neo4j:5.26.25")}

_TRUSTED = "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"  # a sixth of a start is checking classes
SHORT = f"{_TRUSTED} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For servers that a test starts: they start in half the processor time, and answer few questions twice."""
_LATE = "-XX:Tier4InvocationThreshold=30000 -XX:Tier4MinInvocationThreshold=6000 -XX:Tier4CompileThreshold=80000"
_SMALL = "-XX:FreqInlineSize=120 -XX:InlineSmallCode=1200 -XX:LoopUnrollLimit=10 -XX:-DoEscapeAnalysis"
LONG = f"{_TRUSTED} -XX:+UseSerialGC {_LATE} {_SMALL}"
"""For the servers that answer for minutes: what they do most is compiled well, but at five to ten times the usual
thresholds and with little inlining, unrolling and analysis, for the compiler took up to half of their time before."""


@dataclass(frozen=True)
class Server:
    """How the tests reach their server; `stop` ends it. The process and its log are known of a local one."""

    how: str
    uri: str
    username: str
    password: str = field(repr=False)
    database: str | None
    stop: Callable[[], object] = lambda: None
    pid: int | None = None
    log: Path | None = None

    @property
    def environment(self) -> dict[str, str]:
        """What a command line under test needs in its environment."""
        names = {"NEO4J_URI": self.uri, "NEO4J_USERNAME": self.username, "NEO4J_PASSWORD": self.password}
        return {**names, **({"NEO4J_DATABASE": self.database} if self.database else {})}


def start(line: str, folder: Path) -> Server:
    """Start Neo4j of a line, or find the one that is named."""
    if uri := os.environ.get("PCNEO_TEST_URI"):
        return Server(
            f"PCNEO_TEST_URI, {uri}",
            uri,
            os.environ.get("PCNEO_TEST_USERNAME", "neo4j"),
            os.environ.get("PCNEO_TEST_PASSWORD", ""),
            os.environ.get("PCNEO_TEST_DATABASE"),
        )
    return _in_docker(VERSIONS[line][1]) or _local(VERSIONS[line][0], folder / "server")


def _in_docker(image: str) -> Server | None:
    from testcontainers.community.neo4j import Neo4jContainer

    if not _docker_answers():
        return None
    container = Neo4jContainer(image)
    container.start()
    return Server(
        f"Docker, {image}", container.get_connection_url(), container.username, container.password, None, container.stop
    )


def _docker_answers() -> bool:
    import docker
    import docker.errors

    with warnings.catch_warnings():
        # docker leaves its socket open where no engine answers; collected here, it fails no test
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            docker.from_env().close()
        except docker.errors.DockerException:
            return False
        finally:
            gc.collect()
    return True


def _local(version: str, folder: Path) -> Server:
    from pcneo.server import servers
    from pcneo.server.process import console_log

    with pytest.MonkeyPatch.context() as patch:
        if os.environ["JDK_JAVA_OPTIONS"] == SHORT:
            patch.setenv("JDK_JAVA_OPTIONS", LONG)
        local = servers.start(folder, version=version)
    stop = partial(servers.stop, folder)
    return Server(
        f"local server, Neo4j {version}",
        local.uri,
        local.username,
        local.password,
        None,
        stop,
        local.pid,
        console_log(folder),
    )
