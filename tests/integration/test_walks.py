"""Walks, counted by trace: how often p is read from its text, what an update asks for, how far p and a request travel.

ARCHITECTURE.md#rooms names this script; a figure here changes only with that page.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from graphs import Database, cycle
from neo4j_servers import Server
from services import serving

import pcneo as package
from pcneo import Selection, annotate
from pcneo.basics import exact_numbers
from pcneo.service.placing import ask
from pcneo.store import database, sessions
from pcneo.store.statements import load_statement

PACKAGE = Path(package.__file__).parent
NAMES = ("--node-label", "Person", "--relationship-type", "KNOWS", "--key", "id")
MOST_FILES = 9
"""That p is seen in, from the command line to the stored hub."""
MOST_EPSILON_FILES = 14
"""That ε is seen in, from the command line to the coin and the ledger."""
MOST_SHAPES = 4
"""How many classes may hold what a request asks for, from its node to the update."""
EPSILON = Fraction(37, 29)


@pytest.fixture(name="db")
def ring_of_six(db: Database) -> Database:
    db.put(cycle(6))
    return db


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> Iterator[list[tuple[Any, ...]]]:
    """The arguments of every call of a function inside the block."""
    calls: list[tuple[Any, ...]] = []
    function = getattr(owner, name)

    def counting(*arguments: Any, **keywords: Any) -> Any:
        calls.append(arguments)
        return function(*arguments, **keywords)

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, counting)
        yield calls


def statements(calls: list[tuple[Any, ...]]) -> Counter[str]:
    return Counter(statement.name for _, statement, *_ in calls)


@pytest.mark.parametrize(
    "command",
    [
        ("annotate", *NAMES, "-p", "0.7"),
        ("annotate", *NAMES, "-p", "0.7", "--mode", "stats"),
        ("annotate", *NAMES, "-p", "0.7", "--mode", "estimate"),
        ("annotate", *NAMES, "-p", "0.7", "--vertex", "1", "--mode", "stream"),
        ("show", "1", "Person/KNOWS/id@0.7"),
        ("queries", "largest_cohesions", "Person/KNOWS/id@0.7", "--run"),
        (
            "release",
            "Person/KNOWS/id@0.7",
            "--mechanism",
            "critical",
            "-e",
            "1",
            "--budget-epsilon",
            "2",
            "--to",
            "out.csv",
        ),
        ("audit", "Person/KNOWS/id@0.7", "-e", "1"),
    ],
    ids=lambda command: " ".join(command[:1] + command[-2:]),
)
def test_p_is_read_from_its_text_once_whatever_the_command(
    command: tuple[str, ...],
    db: Database,
    pcneo: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert texts_read(db, pcneo, monkeypatch, command).count("0.7") == 1


def texts_read(
    db: Database, pcneo: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> list[Any]:
    """What a command that succeeds beside a run reads as exact numbers."""
    annotate.write(db.store, p="7/10", selection=Selection("Person", "KNOWS", "id"))
    with counted(monkeypatch, exact_numbers, "_fraction") as read:
        code, _, err = pcneo(*command)
    assert code == 0, err
    return [value for value, *_ in read]


@pytest.mark.parametrize(
    "command",
    [
        ("release", "--mechanism", "critical", "-k", "3", "-k", "4"),
        ("release", "--mechanism", "edge", "-k", "3", "-k", "4"),
        ("release", "--mechanism", "respond"),
        ("audit",),
    ],
    ids=lambda command: " ".join(command),
)
def test_epsilon_is_read_from_its_text_once_whatever_the_command(
    command: tuple[str, ...],
    db: Database,
    pcneo: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    further = ("--to", "out.csv", "--budget-epsilon", "5/2") if command[0] == "release" else ()
    texts = texts_read(db, pcneo, monkeypatch, (*command, "-e", "3/2", *further))
    assert (texts.count("3/2"), texts.count("5/2")) == (1, 1 if further else 0)


def test_an_update_after_a_changed_edge_asks_the_server_for_its_version_once_and_reads_the_format_once(
    db: Database, pcneo: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pcneo("annotate", *NAMES, "-p", "0.7", "--graph", "ring")
    db.run("MATCH (a:Person {id: 0}), (b:Person {id: 3}) CREATE (a)-[:KNOWS]->(b)")
    with (
        counted(monkeypatch, database.Database, "run_statement") as asked,
        counted(monkeypatch, database.Database, "__init__") as built,
        counted(monkeypatch, sessions, "_single_with_summary") as versions,
    ):
        code, _, err = pcneo("annotate", "--graph", "ring")
    assert code == 0, err
    reads = statements(asked)
    assert (len(built), len(versions)) == (1, 1)
    assert reads["get_formats"] == 0  # `list_runs` brings the format with the runs, and the lock that of its graph
    assert reads["list_runs"] == 1
    assert reads["list_graphs"] == 1  # by the update; the ledger is read in the transaction that lets versions go


@contextmanager
def files_with(is_it: Callable[[Any], bool]) -> Iterator[set[str]]:
    """The files of the package in which a function has such a value among its arguments inside the block."""
    seen: set[str] = set()

    def look(frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(str(PACKAGE)):
            names = frame.f_code.co_varnames[: frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount]
            if any(is_it(frame.f_locals.get(name)) for name in names):
                seen.add(str(Path(file).relative_to(PACKAGE)))

    sys.setprofile(look)
    try:
        yield seen
    finally:
        sys.setprofile(None)


def test_p_is_seen_in_few_files_on_its_way_to_the_hub(db: Database, pcneo: Callable[..., Any]) -> None:
    with files_with(lambda value: type(value) is package.P) as seen:
        pcneo("annotate", *NAMES, "-p", "0.7", "--graph", "ring")
    assert "basics/searches.py" in seen
    assert len(seen) <= MOST_FILES, sorted(seen)


@pytest.mark.parametrize("mechanism", ["edge", "critical", "respond"])
def test_epsilon_is_seen_in_few_files_on_its_way_to_coin_and_ledger(
    mechanism: str, db: Database, pcneo: Callable[..., Any], tmp_path: Path
) -> None:
    run = annotate.write(db.store, p="7/10", graph="ring", selection=Selection("Person", "KNOWS", "id")).run.run

    def is_epsilon(value: object) -> bool:
        return isinstance(value, str | float | Fraction) and value in ("37/29", EPSILON, float(EPSILON))

    with files_with(is_epsilon) as seen:
        options = ("--mechanism", mechanism, "-e", "37/29", "--budget-epsilon", "2", "--to", str(tmp_path / "out.csv"))
        code, _, err = pcneo("release", run if mechanism == "critical" else "ring", *options)
    assert code == 0, err
    assert "privacy/composition.py" in seen
    assert len(seen) <= MOST_EPSILON_FILES, sorted(seen)


def test_a_request_takes_few_shapes_from_its_node_to_the_update(
    db: Database, server: Server, pcneo: Callable[..., Any]
) -> None:
    pcneo("annotate", *NAMES, "-p", "0.7", "--graph", "ring")
    shapes: set[str] = set()

    def look(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
            names = frame.f_code.co_varnames[: frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount]
            values = [frame.f_locals.get(name) for name in names]
            shapes.update(type(value).__name__ for value in values if has_asked_vertices(value))

    threading.setprofile(look)
    try:
        with serving(server, db.name):
            answered = ask(db.store, graph="ring", p="0.3", vertices=[2, 5])
    finally:
        threading.setprofile(None)
    assert answered.runs
    assert {"Claim", "Question", "Plan"} <= shapes
    shapes.discard("WriteResult")  # the result, whose configuration repeats what was asked
    assert len(shapes) <= MOST_SHAPES, sorted(shapes)


def has_asked_vertices(value: object) -> bool:
    """Whether an object of the package holds the vertices that a request asks for, itself or in a mapping."""
    if not type(value).__module__.startswith("pcneo."):
        return False
    inside = list(vars(value).values()) if hasattr(value, "__dict__") else []
    inside += [item for mapping in inside if isinstance(mapping, Mapping) for item in mapping.values()]
    return any(isinstance(item, list | tuple) and list(item) == [2, 5] for item in inside)


def test_the_statement_that_carries_the_format_is_the_one_that_lists_runs() -> None:
    assert "format" in {column.name for column in load_statement("list_runs").columns}
