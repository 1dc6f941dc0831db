"""The real Neo4j under the integration tests: one for the whole session, said at the top, none is a failure.

In this order: the database that PCNEO_TEST_URI names (with PCNEO_TEST_USERNAME, _PASSWORD, _DATABASE), which must hold
no node; Neo4j in Docker where an engine answers; a local server on a temporary folder. `--neo4j 5.26` takes the
long-term line.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import neo4j
import pytest
from graphs import wipe

VERSIONS = {"2026.09": ("2026.09.0", "neo4j:2026.09.0"), "5.26": ("5.26.25", "neo4j:5.26.25")}


@dataclass(frozen=True)
class Server:
    """How the tests reach their server; `stop` ends it."""

    how: str
    uri: str
    username: str
    password: str = field(repr=False)
    database: str | None
    stop: Callable[[], object] = lambda: None

    @property
    def environment(self) -> dict[str, str]:
        """What a command line under test needs in its environment."""
        names = {"NEO4J_URI": self.uri, "NEO4J_USERNAME": self.username, "NEO4J_PASSWORD": self.password}
        return {**names, **({"NEO4J_DATABASE": self.database} if self.database else {})}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--neo4j", choices=sorted(VERSIONS), default="2026.09", help="line of Neo4j to test on")
    parser.addoption("--interleavings", type=int, default=20, help="how often releases, kills and retries are mixed")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_SERVERS] = []
    config.stash[_FOLDER] = Path(tempfile.mkdtemp(prefix="pcneo-tests-"))
    # The user's own servers are none of the tests' business, nor the other way round; the fetched jars are shared.
    os.environ["PCNEO_STATE_DIR"] = str(config.stash[_FOLDER] / "state")
    os.environ["PCNEO_DATA_DIR"] = str(config.stash[_FOLDER] / "data")
    # Whoever starts the tests may have them ignore signals, as nohup and background jobs do; children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in {"SIGTERM", "SIGHUP"} & set(signal.Signals.__members__):
        signal.signal(signal.Signals[name], signal.SIG_DFL)


def pytest_unconfigure(config: pytest.Config) -> None:
    for server in config.stash[_SERVERS]:
        server.stop()
    shutil.rmtree(config.stash[_FOLDER])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for server in config.stash[_SERVERS]:
        terminalreporter.write_line(f"Neo4j under the tests: {server.how}")


def _start(line: str, folder: Path) -> Server:
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

    local = servers.start(folder, version=version)
    stop = partial(servers.stop, folder)
    return Server(f"local server, Neo4j {version}", local.uri, local.username, local.password, None, stop)


_SERVERS = pytest.StashKey[list[Server]]()
_FOLDER = pytest.StashKey[Path]()


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest) -> Server:
    """The one server of this session, empty when it begins."""
    line = request.config.getoption("--neo4j")
    started = _start(line, request.config.stash[_FOLDER])
    request.config.stash[_SERVERS].append(started)
    reporter = request.config.pluginmanager.getplugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(f"\nNeo4j under the tests: {started.how}")
    with neo4j.GraphDatabase.driver(started.uri, auth=(started.username, started.password)) as driver:
        nodes = driver.execute_query("MATCH (n) RETURN count(n) AS n", database_=started.database).records[0]["n"]
    if nodes:
        pytest.exit(f"{started.uri} holds {nodes} nodes. Tests delete everything: give them an empty database.", 4)
    return started


@pytest.fixture(scope="session")
def neo4j_driver(server: Server) -> Iterator[neo4j.Driver]:
    """A driver to the session's server."""
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        driver.verify_connectivity()
        yield driver


@pytest.fixture(scope="session")
def database(neo4j_driver: neo4j.Driver, server: Server) -> str:
    """Name of the database under test."""
    return server.database or neo4j_driver.execute_query("RETURN 1").summary.database


@pytest.fixture
def empty_database(neo4j_driver: neo4j.Driver, database: str) -> Iterator[str]:
    """The database without nodes, constraints and indexes, before and after."""
    wipe(neo4j_driver, database)
    yield database
    wipe(neo4j_driver, database)
