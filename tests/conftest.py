"""How the tests run: a Neo4j for each worker that needs one, compiled kernels shared by all, three lengths.

`--neo4j 5.26` takes the long-term line. `--quick` needs no server; `--thorough` repeats at length. The
servers that the tests had are listed at the end; having no server is a failure.
"""

from __future__ import annotations

import functools
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import compile_cache
import lengths
import neo4j
import neo4j_servers
import pytest
import stuck
import typer.main
from graphs import Database
from hypothesis import settings
from neo4j_servers import VERSIONS, Server
from places import TESTS
from standing import Kind, Schema

FIRST = [
    *("test_somebodys_locks", "test_guide", "test_cohesion", "test_face", "test_release", "test_annotate", "test_cli"),
    *("test_servers", "test_readme", "test_service", "test_service_processes", "test_smallest"),
    *("test_evaluation_figures", "test_writers", "test_cluster_annotate", "test_refusals", "test_search"),
    *("test_cluster", "test_ledger_races", "test_lanes", "test_changed_nodes", "test_guided", "test_campaign"),
    *("test_wheel", "test_benchmark", "test_audit", "test_protected", "test_service_owner"),
]
"""What takes longest begins first, lest a worker be left with it at the end."""
FOLDERS = ["integration", "property", "statistical", "unit"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--neo4j", choices=sorted(VERSIONS), default="2026.09", help="line of Neo4j to test on")
    parser.addoption("--steps", type=int, help="how many edits are followed by an update")
    parser.addoption("--interleavings", type=int, help="how often releases, kills and retries are mixed")
    length = parser.getgroup("length")
    length.addoption("--quick", action="store_true", help="only what needs no server and no long repetition")
    length.addoption("--thorough", action="store_true", help="repeat at length what is usually done briefly")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--quick") and config.getoption("--thorough"):
        raise pytest.UsageError("--quick or --thorough, not both")
    config.stash[_SERVERS] = []
    config.stash[_FOLDER] = Path(tempfile.mkdtemp(prefix="pcneo-tests-"))
    # The user's own servers are none of the tests' business, nor the other way round; the fetched jars are shared.
    os.environ["PCNEO_STATE_DIR"] = str(config.stash[_FOLDER] / "state")
    os.environ["PCNEO_DATA_DIR"] = str(config.stash[_FOLDER] / "data")
    if "NUMBA_CACHE_DIR" not in os.environ:
        os.environ["NUMBA_CACHE_DIR"] = str(compile_cache.prepare())
    os.environ.pop("COLUMNS", None)  # a shell may export its own width, which tables obey
    os.environ.setdefault("JDK_JAVA_OPTIONS", neo4j_servers.SHORT)
    _set_length(config)
    typer.main.get_command = functools.cache(typer.main.get_command)  # takes 33 ms, and is wanted two thousand times
    # Whoever starts the tests may have them ignore signals, as nohup and background jobs do; children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in {"SIGTERM", "SIGHUP"} & set(signal.Signals.__members__):
        signal.signal(signal.Signals[name], signal.SIG_DFL)


def _set_length(config: pytest.Config) -> None:
    os.environ[lengths.VARIABLE] = next((name for name in ("quick", "thorough") if config.getoption(name)), "usual")
    if config.getoption("--interleavings") is None:
        config.option.interleavings = lengths.usual_or_thorough(3, 200)
    if config.getoption("--steps") is None:
        config.option.steps = lengths.usual_or_thorough(12, 300)
    if config.getoption("--thorough") and config.getoption("timeout", 0) is None:
        config.option.timeout = 3600  # pytest-timeout reads it after this
    settings.register_profile("of this length", deadline=None, max_examples=lengths.examples(100))
    settings.load_profile("of this length")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `--quick` what needs a server is not even read."""
    return True if config.getoption("--quick") and collection_path.name == "integration" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if _is_left_out(item, config)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = sorted((item for item in items if not _is_left_out(item, config)), key=_place)


def pytest_collection_finish() -> None:
    """What was collected stays: searches for garbage, which the programs under test ask for, need not go through it."""
    gc.collect()
    gc.freeze()


def _is_left_out(item: pytest.Item, config: pytest.Config) -> bool:
    if config.getoption("--quick"):
        marks = {mark.name for mark in item.iter_markers()}
        return bool(marks & {"long", "thorough"}) or "integration" in item.path.parts
    return item.get_closest_marker("thorough") is not None and not config.getoption("--thorough")


def _place(item: pytest.Item) -> tuple[int, int, str, str]:
    """Files in their order; within a file those of one schema together, since it takes long to make another."""
    name, folder = item.path.stem, item.path.relative_to(TESTS).parts[0]
    return (
        FIRST.index(name) if name in FIRST else len(FIRST),
        FOLDERS.index(folder) if folder in FOLDERS else len(FOLDERS),
        str(item.path),
        _kind(item),
    )


def _kind(item: pytest.Item) -> Kind:
    """The constraints and indexes with which a test begins."""
    mark = item.get_closest_marker("schema")
    return mark.args[0] if mark else "usual"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Nobody waits for ever: CI would be ended with no word about which test it was."""
    with stuck.watched(item, item.config.stash[_SERVERS]):
        return (yield)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output["servers"] = [server.how for server in session.config.stash[_SERVERS]]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Of pytest-xdist, in the process that hands out files."""
    from scheduling import CORES, FilledWaiting

    return FilledWaiting(config, log) if len(config.option.tx) > CORES else None


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """What a worker of pytest-xdist had, told to the process that writes the summary."""
    node.config.stash.setdefault(_TOLD, []).extend(getattr(node, "workeroutput", {}).get("servers", []))


def pytest_unconfigure(config: pytest.Config) -> None:
    for server in config.stash[_SERVERS]:
        server.stop()
    shutil.rmtree(config.stash[_FOLDER])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.getoption("--quick"):
        terminalreporter.write_line("--quick left out what needs a server, and what is marked long")
    own = [server.how for server in config.stash[_SERVERS]]
    for how in sorted({*own, *config.stash.get(_TOLD, [])}):
        terminalreporter.write_line(f"Neo4j under the tests: {how}")


_SERVERS = pytest.StashKey[list[Server]]()
_FOLDER = pytest.StashKey[Path]()
_TOLD = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest) -> Server:
    """The one server of this worker, empty when it begins."""
    if "PCNEO_TEST_URI" in os.environ and int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1)) > 1:
        pytest.exit("PCNEO_TEST_URI names one database, and tests delete everything: one worker, -n 0.", 4)
    line: str = request.config.option.neo4j
    started = neo4j_servers.start(line, request.config.stash[_FOLDER])
    request.config.stash[_SERVERS].append(started)
    reporter: Any = request.config.pluginmanager.getplugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(f"\nNeo4j under the tests: {started.how}")
    with neo4j.GraphDatabase.driver(started.uri, auth=(started.username, started.password)) as driver:
        nodes = driver.execute_query("MATCH (n) RETURN count(n) AS n", database_=started.database).records[0]["n"]
    if nodes:
        pytest.exit(f"{started.uri} holds {nodes} nodes. Tests delete everything: give them an empty database.", 4)
    return started


@pytest.fixture(scope="session")
def neo4j_driver(server: Server) -> Iterator[neo4j.Driver]:
    """A driver to the worker's server."""
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        driver.verify_connectivity()
        yield driver


@pytest.fixture(scope="session")
def database(neo4j_driver: neo4j.Driver, server: Server) -> str:
    """Name of the database under test."""
    home = neo4j_driver.execute_query("RETURN 1").summary.database
    assert home is not None
    return server.database or home


@pytest.fixture(scope="session")
def languages(neo4j_driver: neo4j.Driver, database: str) -> list[str]:
    """The versions of Cypher that the server speaks: 5, and 25 where it is known."""
    rows = neo4j_driver.execute_query("CALL dbms.components() YIELD name, versions", database_=database).records
    return next((row["versions"] for row in rows if row["name"] == "Cypher"), ["5"])


@pytest.fixture(scope="session")
def schema(neo4j_driver: neo4j.Driver, database: str) -> Iterator[Schema]:
    """The constraints and indexes that stand between tests; at the end the database is as it was given."""
    schema = Schema(neo4j_driver, database)
    yield schema
    schema.clear("bare")


@pytest.fixture
def empty_database(request: pytest.FixtureRequest, schema: Schema, database: str) -> str:
    """The database without nodes; `@pytest.mark.schema` says which constraints and indexes it has."""
    schema.clear(_kind(request.node))
    return database


@pytest.fixture
def db(neo4j_driver: neo4j.Driver, empty_database: str) -> Database:
    """The empty database, asked in plain Cypher. A file whose tests begin with a graph fills it: `name="db"`."""
    return Database(neo4j_driver, empty_database)


@pytest.fixture
def server_in_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is where the command line and `connect()` look for it: in this process's environment."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def pcneo(server_in_environment: None, command_line: Callable[..., Any]) -> Callable[..., Any]:
    """The command line, which finds the server."""
    return command_line


@pytest.fixture
def command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """The command line within this process: exit code, standard output, standard error."""
    from pcneo.cli.main import main

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["pcneo", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return int(end.value.code or 0), captured.out, captured.err

    return run


@pytest.fixture
def reader(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    pcneo: Callable[..., Any],
    server: Server,
    db: Database,
) -> Any:
    """Somebody with a document, the demo's graph in `friends.csv`, and the test server; the parameter parts columns."""
    from printed import Reader, friends_lines

    monkeypatch.chdir(tmp_path)
    separator = getattr(request, "param", " ")
    Path("friends.csv").write_text("".join(line.replace(" ", separator) for line in friends_lines()))
    return Reader(pcneo, db, server)
