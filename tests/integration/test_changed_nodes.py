"""Somebody edits one property of one of our nodes: commands that read it say which, and none ends with a traceback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import cycle, islice, product
from pathlib import Path
from typing import Any

import neo4j
import pytest
from graphs import Database, own_text
from lengths import usual_or_thorough
from neo4j_servers import Server
from requested import requested
from services import serving

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.errors import GraphError, PcneoError, RequestError
from pcneo.release import Terms, budget, release
from pcneo.release.checking import check
from pcneo.service.placing import ask
from pcneo.stored import cleaning, queries, runs, showing, versions

EDGES = [(1, 2), (1, 3), (2, 3), (3, 4), (4, 5), (5, 6), (4, 6)]
NAMES: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
RUN = "friends@1/2"

VALUES: dict[str, object] = {
    "nothing": None,
    "text": "x",
    "integer": 7,
    "texts": ["a", "b"],
    "negative": -3,
    "time": datetime(2026, 1, 2, tzinfo=UTC),
    "float": 0.5,
    "empty": "",
    "integers": [1, 2],
    "boolean": True,
    "none": [],
}
FEW = 3
"""How many values a property has in turn, unless all are tried; every value has its turn at some property."""

NODES = {
    "PCohesionGraph": "MATCH (n:PCohesionGraph)",
    "PCohesionRun": "MATCH (n:PCohesionRun)",
    "PCohesionVersion": "MATCH (n:PCohesionVersion {version: 2})",
    "PCohesion": "MATCH (:Person {id: 1})-[:HAS_COHESION]->(n:PCohesion) WHERE n.until > 2^52",
    "PCohesionFence": "MATCH (n:PCohesionFence {number: 1})",
}

NUMBERS = "revision effort added retired cohesions memberships nodeCount relationshipCount vertices edges"
FITS: dict[str, dict[str, str]] = {
    "PCohesionGraph": {
        "name": "text nothing",  # as if the graph were gone
        **dict.fromkeys(("nodeLabels", "relationshipTypes"), "texts"),
        "key": "text",
        "fingerprintKey": "",
        "format": "integer nothing",
    },
    "PCohesionRun": {
        "id": "text nothing empty",  # as if the run were gone
        "graph": "text",
        **dict.fromkeys(("scope", "pText"), ""),
        "search": "nothing",  # as in the first formats
        "version": "integer",
    },
    "PCohesionVersion": {
        "readable": "boolean",
        **dict.fromkeys(("pcneo", "fingerprint", "membershipHash"), "text"),
        **dict.fromkeys(NUMBERS.split(), "integer"),
        "fromFiles": "boolean nothing",
        **dict.fromkeys(("startedAt", "finishedAt"), "time"),
        "replacedAt": "time nothing",
    },
}
"""The values with which a node might be one of ours; with any other, its name and that of the property are said."""

COMMANDS: dict[str, Callable[[Any], object]] = {
    "runs": runs.list_runs,
    "show": lambda db: showing.show(db, vertex=1),
    "read": lambda db: showing.read_cohesions(db, runs.find_run(db, run=RUN)),
    "queries": lambda db: queries.run_query(db, "largest_cohesions"),
    "release": lambda db: release(
        db, requests=[requested(mechanism="critical", epsilon="1", to=Path("a.csv"))], terms=Terms(dry_run=True)
    ),
    "history": versions.history,
    "clean": lambda db: cleaning.clean(db, dry_run=True),
    "diff": lambda db: versions.diff(db, run=RUN, before=1, after=2),
    "estimate": lambda db: annotate.estimate(db, graph="friends", p="1/2"),
}
UNREAD = {"history": {"PCohesionGraph"}, "estimate": {"PCohesionRun", "PCohesionVersion"}}
"""The nodes that a command does not read."""
ELSEWHERE: dict[str, Callable[[Any], object]] = {
    "budget": budget.show,
    "clean of one": lambda db: cleaning.clean(db, run=RUN, dry_run=True),
}
"""Commands that read neither runs nor versions, or that remove a run even if its records were changed."""
WRITING: dict[str, Callable[[Any], object]] = {
    "annotate": lambda db: annotate.write(db, graph="friends"),
    "annotate a vertex": lambda db: annotate.write(db, graph="friends", p="1/2", vertices=[1]),
}


@pytest.fixture
def db(neo4j_driver: neo4j.Driver, empty_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Database:
    """A run with two versions."""
    monkeypatch.chdir(tmp_path)
    db = Database(neo4j_driver, empty_database)
    db.put(EDGES[:-1])
    build(db)
    return db


def build(db: Database) -> None:
    db.run("MATCH (:Person {id: 4})-[r:KNOWS]-(:Person {id: 6}) DELETE r")
    annotate.write(db.store, graph="friends", p="1/2", **NAMES)
    db.run("MATCH (a:Person {id: 4}), (b:Person {id: 6}) CREATE (a)-[:KNOWS]->(b)")
    annotate.write(db.store, graph="friends")


def edited(db: Database, label: str, names: list[str]) -> Iterator[tuple[str, str]]:
    """Each property with some values, or all: it has the value while the caller looks, and then its own again."""
    pairs = list(product(names, VALUES))
    kinds = cycle(VALUES)
    few = [(name, kind) for name in names for kind in islice(kinds, FEW)]
    for name, kind in usual_or_thorough(few, pairs):
        ((element, before),) = db.run(own_text(f"{NODES[label]} RETURN elementId(n), n[$name]"), name=name)
        change = own_text("MATCH (n) WHERE elementId(n) = $element SET n[$name] = $value")
        db.run(change, element=element, name=name, value=VALUES[kind])
        yield name, kind
        db.run(change, element=element, name=name, value=before)


def said(command: Callable[[Any], object], db: Database) -> str | None:
    """What a command is refused with; None if it is not."""
    try:
        command(db.store)
    except PcneoError as error:
        return str(error)
    return None


@pytest.mark.parametrize("label", FITS)
def test_a_changed_graph_run_or_version_is_named_with_its_property_and_listed(db: Database, label: str) -> None:
    uses = [use for use in COMMANDS if label not in UNREAD.get(use, ())]
    every, wrong = cycle(uses), []
    for name, kind in edited(db, label, list(FITS[label])):
        what, is_changed = f"{name} = {kind}", kind not in FITS[label][name].split()
        for use in usual_or_thorough([next(every)], uses):
            words = said(COMMANDS[use], db) or ""
            if is_changed and not (label in words and name in words and "someone has changed" in words):
                wrong.append(f"{what}, {use}: {words}")
        for use, command in ELSEWHERE.items():
            words = said(command, db)
            if is_changed and words is not None and label != "PCohesionGraph" and name not in ("id", "graph"):
                wrong.append(f"{what}, {use}: {words}")
        if is_changed:
            findings = check(db.store).findings
            if not any(label in found.about and name in found.what and found.is_fault for found in findings):
                wrong.append(f"{what}, check: {findings}")
        else:
            said(check, db)
    assert wrong == []
    assert check(db.store).all_well


@pytest.mark.parametrize("label", ["PCohesion", "PCohesionFence"])
def test_a_changed_cohesion_or_fence_ends_no_command_with_a_traceback(db: Database, label: str) -> None:
    compared = {"size": int, "edges": int, "owner": int, "proven": bool, "best": bool, "digest": str}
    every, wrong = cycle({**COMMANDS, **ELSEWHERE}.items()), []
    ((names,),) = db.run(own_text(f"{NODES[label]} RETURN keys(n)"))
    for name, kind in edited(db, label, sorted(names)):
        for use, command in usual_or_thorough(list(islice(every, 3)), list({**COMMANDS, **ELSEWHERE}.items())):
            words = said(command, db)
            if words is not None and "Traceback" in words:
                wrong.append(f"{name} = {kind}, {use}: {words}")
        findings = check(db.store).findings
        is_listed = any("have lost a property" in found.what and found.is_fault for found in findings)
        if name in compared and type(VALUES[kind]) is not compared[name] and not is_listed:
            wrong.append(f"{name} = {kind}, check: {findings}")
    assert wrong == []
    assert check(db.store).all_well


@pytest.mark.parametrize("name", ["edges", "proven", "best"])
def test_a_changed_cohesion_is_refused_and_annotating_writes_it_anew(db: Database, name: str) -> None:
    for value in (None, "x"):
        db.run(own_text(f"{NODES['PCohesion']} SET n[$name] = $value"), name=name, value=value)
        for use in ("show", "read"):
            with pytest.raises(GraphError, match=rf"PCohesion of .* {name}.*annotate again to rewrite it"):
                COMMANDS[use](db.store)
        WRITING["annotate"](db.store)
        assert check(db.store).all_well
    WRITING["annotate a vertex"](db.store)
    vertices = "MATCH (:Person {id: 1})-[:HAS_COHESION]->(n:PCohesion {run: 'friends@1/2:vertices'}) "
    db.run(own_text(f"{vertices} WHERE n.until > 2^52 SET n[$name] = null"), name=name)
    WRITING["annotate a vertex"](db.store)
    assert check(db.store).all_well


@pytest.mark.parametrize(
    ("label", "name", "value"),
    [("PCohesionRun", "scope", None), ("PCohesionRun", "version", "x"), ("PCohesionVersion", "finishedAt", None)],
)
def test_a_changed_run_is_removed_by_its_id_and_annotated_again(
    db: Database, label: str, name: str, value: object, pcneo: Callable[..., Any]
) -> None:
    db.run(own_text(f"{NODES[label]} SET n[$name] = $value"), name=name, value=value)
    for use in WRITING:
        assert label in (said(WRITING[use], db) or "")
    code, out, _ = pcneo("check", "--json")
    assert code == 4
    assert name in out
    assert pcneo("clean", RUN, "--yes")[0] == 0
    assert db.run("MATCH (n:PCohesion|PCohesionRun|PCohesionVersion) RETURN count(n)") == [[0]]
    annotate.write(db.store, graph="friends", p="1/2")
    assert check(db.store).all_well


@pytest.mark.parametrize(("label", "name"), [("PCohesionGraph", "fingerprintKey"), ("PCohesionRun", "scope")])
def test_a_service_answers_with_what_was_changed_and_goes_on(
    db: Database, server: Server, label: str, name: str
) -> None:
    change = own_text(f"{NODES[label]} SET n[$name] = $value")
    ((before,),) = db.run(own_text(f"{NODES[label]} RETURN n[$name]"), name=name)
    db.run(change, name=name, value=7)
    with serving(server, db.name, graphs=("friends",), every=1.0):
        with pytest.raises(RequestError, match=rf"{label} .* has a {name} of another kind"):
            ask(db.store, graph="friends", p="1/3")
        db.run(change, name=name, value=before)
        assert ask(db.store, graph="friends", p="1/3").runs


@pytest.mark.thorough
@pytest.mark.parametrize("label", NODES)
def test_annotating_ends_with_no_traceback_whatever_was_changed(db: Database, label: str) -> None:
    ((names,),) = db.run(own_text(f"{NODES[label]} RETURN keys(n)"))
    for (name, kind), use in product(product(sorted(names), VALUES), WRITING):
        db.run(own_text(f"{NODES[label]} SET n[$name] = $value"), name=name, value=VALUES[kind])
        said(WRITING[use], db)
        said(check, db)
        db.run("MATCH (n) WHERE any(label IN labels(n) WHERE label STARTS WITH 'PCohesion') DETACH DELETE n")
        build(db)
