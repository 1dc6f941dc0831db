"""The checker of histories finds contradictions, in histories written by hand and on a server with a planted bug."""

from __future__ import annotations

import contextlib
import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from graphs import Database
from neo4j.exceptions import ClientError
from neo4j_servers import Server
from requested import requested
from services import ask, serving, wait_until

from campaign import course, histories
from campaign.history_bugs import BUGS, Bug
from campaign.history_contents import read_export, read_shown
from campaign.history_readers import Readers
from campaign.history_rules import AnswersSeen, History, LedgerSeen, Members, Read, faults_of
from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.errors import PcneoError
from pcneo.release import Terms, budget, release

# --- Rules, on what is laid before them


def read(reader: str, version: int, *digests: str, run: str = "r", current: bool = True) -> Read:
    return Read(reader, run, version, digests, current)


READS = [read("a", 1, "x", "y"), read("b", 1, "x", "y"), read("a", 2, "x", "z"), read("a", 1, "x", "y", current=False)]
SPENT = ("ann", "1/2")
LEDGERS = [LedgerSeen((), (SPENT,)), LedgerSeen((SPENT,), (SPENT, ("bob", "1")))]
AT_NOON, AT_ONE = ("complete", "done", "at noon"), ("complete", "done", "at one")
ANSWERS = [AnswersSeen({}), AnswersSeen({"q": AT_NOON}), AnswersSeen({"q": AT_NOON, "s": AT_ONE})]
SHOWN = [
    Members("a", "r", 1, {7: frozenset({7, 8}), 8: frozenset({8})}, is_whole=True),
    Members("b", "r", 1, {7: frozenset({7, 8})}),
    Members("a", "r", 2, {7: frozenset({7})}, is_whole=True),
]

FAULTS = {
    "a torn read": History([*READS, read("b", 2, "x")]),
    "a hub of the version before": History([*READS, read("b", 2, "x", "y", "z")]),
    "a hub twice": History([*READS, read("b", 1, "x", "x", "y")]),
    "a version that goes back": History([*READS, read("a", 1, "x", "y")]),
    "a file without a record": History(ledgers=[LedgerSeen((SPENT,), ())]),
    "two files and one record": History(ledgers=[LedgerSeen((SPENT, SPENT), (SPENT,))]),
    "a record that goes": History(ledgers=[*LEDGERS, LedgerSeen((), (SPENT,))]),
    "a second answer": History(answers=[*ANSWERS, AnswersSeen({"q": AT_ONE, "s": AT_ONE})]),
    "an answer that goes": History(answers=[*ANSWERS, AnswersSeen({"q": AT_NOON})]),
    "an answer ahead": History(answers=[AnswersSeen({"q": AT_NOON}, ("q",))]),
    "no answer": History(answers=ANSWERS, placed=["q", "t"]),
    "other members": History(members=[*SHOWN, Members("c", "r", 1, {7: frozenset({7, 9})})]),
    "a member of another version": History(members=[*SHOWN, Members("c", "r", 2, {7: frozenset({7, 8})})]),
    "a run without a cohesion": History(members=[*SHOWN, Members("c", "r", 1, {7: frozenset({7, 8})}, is_whole=True)]),
}


def test_a_sound_history_has_no_fault() -> None:
    assert faults_of(History(READS, LEDGERS, ANSWERS, ["q", "s"])) == []
    assert faults_of(History([*READS, read("b", 1, "other", run="s")])) == []
    assert faults_of(History(members=SHOWN)) == []
    later = Members("c", "r", 1, {7: frozenset({7})}, is_whole=True)
    assert faults_of(History(members=[*SHOWN, later], gone={8})) == []


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_in_what_was_seen(name: str) -> None:
    assert len(faults_of(FAULTS[name])) == 1


# --- What `show` and the exports say, each by itself

EXPORT: dict[str, Any] = {
    "graph": {"run": "r", "version": 2},
    "nodes": [
        {"id": 1, "needed": 2, "size": 2, "edges": 1, "members": [1, 2]},
        {"id": 2, "needed": 2, "size": 2, "edges": 1, "members": [1, 2]},
        {"id": 3, "needed": 0},
    ],
    "edges": [{"source": 1, "target": 2, "critical": 2}, {"source": 2, "target": 3, "critical": 0}],
}
SHOWN_ONE: dict[str, Any] = {
    **{"run": "r", "version": 2, "vertex": 1, "size": 2, "edges": 1},
    "members": [{"key": 1, "hops": 0}, {"key": 2, "hops": 1}],
    "criticalConnections": [[1, 2]],
}
EXPORT_ONE: dict[str, Any] = {
    "graph": {"run": "r", "version": 2},
    "nodes": [{"id": 1}, {"id": 2}],
    "edges": [{"source": 1, "target": 2}],
}


def written(file: Path, read: dict[str, Any]) -> Path:
    file.write_text(json.dumps(read))
    return file


def test_an_export_is_read_as_it_was_written(tmp_path: Path) -> None:
    read = read_export("a", written(tmp_path / "a.json", EXPORT))
    assert read == Members("a", "r", 2, dict.fromkeys((1, 2), frozenset({1, 2})), is_whole=True)
    shown = read_shown("a", json.dumps(SHOWN_ONE), written(tmp_path / "b.json", EXPORT_ONE))
    assert shown == Members("a", "r", 2, {1: frozenset({1, 2})})


@pytest.mark.parametrize(
    ("part", "place", "name", "value"),
    [
        ("nodes", 0, "needed", 1),
        ("nodes", 0, "size", 3),
        ("nodes", 0, "edges", 2),
        ("nodes", 2, "needed", 1),
        ("edges", 0, "critical", 1),
        ("edges", 1, "critical", 1),
    ],
)
def test_an_export_that_disagrees_with_itself_is_found(
    tmp_path: Path, part: str, place: int, name: str, value: int
) -> None:
    read = copy.deepcopy(EXPORT)
    read[part][place][name] = value
    with pytest.raises(AssertionError, match=f"{value} is said"):
        read_export("a", written(tmp_path / "a.json", read))


@pytest.mark.parametrize(
    ("shown", "exported"),
    [
        ({"size": 3}, {}),
        ({"edges": 0}, {}),
        ({"vertex": 3}, {}),
        ({"criticalConnections": [[1, 3]]}, {}),
        ({}, {"graph": {"run": "r", "version": 1}}),
        ({}, {"nodes": [{"id": 1}]}),
        ({}, {"edges": []}),
    ],
)
def test_a_cohesion_that_disagrees_with_its_file_or_itself_is_found(
    tmp_path: Path, shown: dict[str, Any], exported: dict[str, Any]
) -> None:
    file = written(tmp_path / "a.json", EXPORT_ONE | exported)
    with pytest.raises(AssertionError, match="is said"):
        read_shown("a", json.dumps(SHOWN_ONE | shown), file)


# --- On a server, with a writer, a service and releases in this process

GRAPH, RUNS = "friends", ("friends@1/2", "friends@3/10")


@contextlib.contextmanager
def no_bug(_: Database) -> Iterator[None]:
    yield


def short_history(server: Server, db: Database, folder: Path, bug: Bug) -> History:
    """Two rounds of an edit, an update, a request and a release; readers look after each."""
    rng, history = random.Random(3), History()
    db.put([(a, b) for a in range(24) for b in range(a) if rng.random() < 0.3], isolated=range(24))
    for p in ("1/2", "3/10"):
        annotate.write(db.store, p=p, graph=GRAPH, selection=Selection("Person", "KNOWS", "id"))
    budget.set_total(db.store, graph=GRAPH, epsilon=100, delta="1/2")
    with (
        Readers(server, db.name, RUNS, folder, history) as readers,
        serving(server, db.name),
        bug(db),
    ):
        readers.look()
        for number in range(2):
            for command in (lambda: annotate.write(db.store, graph=GRAPH), lambda: request(db, history)):
                db.run("MATCH (a:Person)-[e:KNOWS]->() WITH e ORDER BY a.id, elementId(e) LIMIT 3 DELETE e")
                with contextlib.suppress(PcneoError, ClientError):  # some bugs are noticed by their own victims
                    command()
                readers.look()
            wanted = requested(
                to=folder / f"who{number}.json", mechanism="edge", epsilon=f"1/{number + 2}", graph=GRAPH
            )
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("LOGNAME", f"who{number}")
                release(db.store, requests=[wanted], terms=Terms(anyway=True))
            readers.look()
    return history


def request(db: Database, history: History) -> None:
    """Ask the service, and wait until somebody has answered, though not for ever: none may, where a bug is planted."""
    history.placed.append(ask(db, command="annotate", graph=GRAPH))
    text = "MATCH (q:PCohesionRequest {id: $id}) WHERE q.finishedAt IS NOT NULL RETURN 1"
    with contextlib.suppress(AssertionError):
        wait_until(lambda: db.run(text, id=history.placed[-1]), "an answer", 15)


@pytest.mark.long
def test_a_short_history_without_a_bug_has_no_fault(server: Server, db: Database, tmp_path: Path) -> None:
    history = short_history(server, db, tmp_path, no_bug)
    assert faults_of(history) == []
    for run in RUNS:
        assert len({seen.version for seen in history.reads if seen.run == run}) == 5
    assert any(not seen.is_current for seen in history.reads)
    assert len(history.ledgers[-1].published) == len(history.ledgers[-1].recorded) == 2
    assert len(history.answers[-1].answers) == len(history.placed) == 2


FOUND = {
    "hubs go from the version that is read": "at version",
    "a sweep takes what came with the current version": "at version",
    "a version is let go without a word": "at version",
    "a run goes back to its earlier version": "after a later one",
    "a spend is not recorded": "not in the ledger",
    "a spend takes the place of the one before": "has gone",
    "an answer does not close its request": "and then",
    "an answer comes before its version": "before its version could be read",
}
"""What the checker says of each."""


USUAL = ("a run goes back to its earlier version", "a spend is not recorded", "an answer comes before its version")
"""A bug of the versions, of the ledger and of the requests; the others take their seconds under `--thorough`."""


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [name if name in USUAL else pytest.param(name, marks=pytest.mark.thorough) for name in BUGS]
)
def test_a_planted_bug_is_found_on_a_server(name: str, server: Server, db: Database, tmp_path: Path) -> None:
    found = faults_of(short_history(server, db, tmp_path, BUGS[name]))
    assert any(FOUND[name] in fault for fault in found), found


@pytest.mark.thorough
def test_a_history_with_signals_and_restarts_holds() -> None:
    outcomes = course.run("a history", minutes=5, most=1, kinds=["histories"])
    print(course.summary(outcomes), histories.seen(), sep="\n")
    assert not outcomes["histories"].failures, outcomes["histories"].failures[0][1]
