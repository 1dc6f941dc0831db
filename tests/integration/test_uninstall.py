"""`clean --everything`: the database as it was before the first command, and the user's data untouched."""

from __future__ import annotations

import getpass
import json
import re
from pathlib import Path
from typing import Any

import pytest
from graphs import Database, cycle
from requested import requested
from services import ask
from standing import Schema

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.errors import BusyError
from pcneo.release import Terms, budget, release
from pcneo.store.chosen_graph import schema_statements
from pcneo.store.standing import open_graph
from pcneo.stored.cleaning import clean, everything, uninstall

PERSONS: dict[str, Any] = {"graph": "friends", "selection": Selection("Person", "KNOWS", "id")}
CHAIN = [(i, i + 1) for i in range(12)]


@pytest.fixture(name="db")
def persons_and_robots(db: Database, schema: Schema) -> Database:
    """A database of somebody's: two kinds of nodes, one of which has an index."""
    schema.clear("users")
    db.put([*cycle(8), (0, 4), (1, 5)])
    db.put(CHAIN, label="Robot", index=False)
    return db


def seen(db: Database) -> dict[str, Any]:
    """What is in the database: schema, labels and types in use, counts, and all that is somebody's."""
    return {
        "indexes": sorted(map(str, db.run("SHOW INDEXES YIELD name, type, labelsOrTypes, properties RETURN *"))),
        "constraints": sorted(map(str, db.run("SHOW CONSTRAINTS YIELD name, type, labelsOrTypes RETURN *"))),
        "labels": sorted(label for (label,) in db.run("MATCH (n) UNWIND labels(n) AS label RETURN DISTINCT label")),
        "types": sorted(type_ for (type_,) in db.run("MATCH ()-[r]->() RETURN DISTINCT type(r)")),
        "nodes": sorted(map(str, db.run("MATCH (n) RETURN labels(n), properties(n)"))),
        "relationships": sorted(
            map(str, db.run("MATCH (a)-[r]->(b) RETURN properties(a), type(r), properties(r), properties(b)"))
        ),
    }


def all_kinds(db: Database, to: Path, *, released: bool) -> None:
    """Leave something of every kind there: runs, versions, retired and unfinished hubs, requests, and a ledger."""
    annotate.write(db.store, p=["1/2", "1/3"], search="density", **PERSONS)
    db.run("MATCH (a:Person {id: 0}), (b:Person {id: 3}) CREATE (a)-[:KNOWS]->(b)")
    annotate.write(db.store, p="1/2", search="density", graph="friends")
    db.run("MATCH (:Person {id: 0})-[e:KNOWS]->(:Person {id: 3}) DELETE e")
    annotate.write(db.store, p="1/2", vertices=[1, 2], graph="friends")
    robots: Any = {"graph": "robots", "selection": Selection("Robot", "KNOWS", "id"), "create_index": True}
    annotate.write(db.store, p="1/2", **robots)
    db.run(
        "CREATE (:PCohesionRun {id: 'friends@1/9', graph: 'friends', scope: 'graph', search: 'density', version: 0})"
    )
    db.run("MATCH (v:Person {id: 1}) CREATE (v)-[:HAS_COHESION]->(:PCohesion {run: 'friends@1/9', from: 9})")
    for status in ("complete", "failed", "requested", None):
        ask(db, command="annotate", graph="friends", status=status)
    db.run(
        "MATCH (q:PCohesionRequest {status: 'complete'}), (r:PCohesionRun {id: 'friends@1/2:density'}) "
        "CREATE (q)-[:PRODUCED]->(r)"
    )
    if released:
        annotate.write(db.store, p="1/2", search="density", graph="friends")
        budget.set_total(db.store, graph="friends", epsilon=9)
        terms = Terms(write_property="noisy", anyway=True)
        request = requested(to=to / "a.csv", epsilon=1, mechanism="critical", run="friends@1/2")
        release(db.store, requests=[request], terms=terms)


@pytest.mark.parametrize("released", [False, True])
def test_nothing_is_left_of_anything(db, tmp_path, released):
    before = seen(db)
    all_kinds(db, tmp_path, released=released)
    assert set(seen(db)["labels"]) >= {"PCohesion", "PCohesionRetired", "PCohesionRequest", "PCohesionFence"}
    there = everything(db.store)
    assert (there.runs, there.requests, there.graphs, there.ledger > 0) == (4 if released else 5, 4, 2, released)
    told: list[tuple[str, int, int | None]] = []
    removed, left = uninstall(db.store, ledger=True, progress=lambda *step: told.append(step))
    assert seen(db) == before
    assert (left.hubs, left.graphs, left.ledger, left.schema) == (0, 0, 0, ())
    assert removed.hubs == there.hubs
    assert {"deleting hubs", "deleting requests"} <= {stage for stage, _, _ in told}
    assert all(total is not None and done <= total for stage, done, total in told if stage.startswith("deleting"))


def ledger_of(db: Database) -> list[str]:
    """What was spent and set; that a property of counts is gone is noted beside it."""
    rows = db.run("MATCH (n) WHERE n:PCohesionBudget OR n:PCohesionRelease RETURN properties(n)")
    about_property = {"property", "propertyHash", "propertyRemovedAt"}
    return sorted(str(sorted((name, row[name]) for name in row.keys() - about_property)) for (row,) in rows)


def test_the_ledger_stays_with_what_it_needs_and_counts_on(db, tmp_path):
    all_kinds(db, tmp_path, released=True)
    kept = ledger_of(db)
    [[hubs]] = db.run("MATCH (c:PCohesion) WHERE c.run STARTS WITH 'friends@' RETURN count(c)")
    _, left = uninstall(db.store)
    assert ledger_of(db) == kept
    assert left.ledger_graphs == ("friends",)
    labels = set(seen(db)["labels"])
    assert labels == {
        *("Person", "Robot", "PCohesionBudget", "PCohesionFence", "PCohesionGraph", "PCohesionLedger"),
        *("PCohesionNote", "PCohesionRelease"),
    }
    (shown,) = budget.show(db.store, graph="friends")
    assert shown.releases
    (noted,) = [note for note in shown.notes if note.kind == "cleaned"]
    assert "friends@1/2" in noted.what
    assert noted.what.endswith(f", {hubs:,} cohesions")
    assert noted.who == getpass.getuser()
    assert annotate.write(db.store, p="1/2", graph="friends").runs[0].version > 3  # no number is used twice


def test_a_dry_run_shows_what_is_then_removed_and_removes_nothing(db, tmp_path):
    all_kinds(db, tmp_path, released=True)
    before = seen(db)
    planned = clean(db.store, dry_run=True)
    assert seen(db) == before
    removed = clean(db.store)
    assert (planned.runs, planned.hubs, planned.properties) == (removed.runs, removed.hubs, removed.properties)
    assert (
        (planned.answered_requests, planned.relied_on)
        == (removed.answered_requests, removed.relied_on)
        == (2, ("friends@1/2:density",))
    )


def test_a_service_at_work_and_a_writer_are_in_the_way(db, tmp_path, pcneo):
    all_kinds(db, tmp_path, released=False)
    before = seen(db)
    db.run(
        "CREATE (:PCohesionRequest {id: 'busy', status: 'running', worker: 'here:1', "
        "leaseUntil: datetime() + duration('PT20S')})"
    )
    says = (
        "A service is running on this database (process 1 on host here). Stop it, then try again; one that was killed "
        "counts as running for 30 s."
    )
    with pytest.raises(BusyError, match=re.escape(says)):
        uninstall(db.store)
    code, out, err = pcneo("clean", "--everything", "--dry-run")
    assert (code, "Runs: 5, with" in out, says in err) == (0, True, True)
    db.run("MATCH (q:PCohesionRequest {id: 'busy'}) DELETE q")
    assert seen(db) == before


def test_the_statements_of_an_administrator_make_and_undo_the_same_schema(db):
    before = seen(db)
    for statement in schema_statements(["Robot"], "id"):
        db.run(statement.removesuffix(";"))
    made = db.run("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' AND name STARTS WITH 'pcneo_' RETURN count(*)")
    assert made == [[len(schema_statements()) + 1]]
    for statement in schema_statements(["Robot"], "id", drop=True):
        db.run(statement.removesuffix(";"))
    assert seen(db) == before


def test_on_the_command_line_it_is_shown_and_has_to_be_agreed_to(db, tmp_path, pcneo):
    all_kinds(db, tmp_path, released=False)
    before = seen(db)
    code, out, _ = pcneo("clean", "--everything", "--dry-run")
    assert (code, "Runs: 5, with" in out, "pcneo_graph_name" in out) == (0, True, True)
    assert pcneo("clean", "--everything")[0] == 2  # nobody is there to be asked
    assert seen(db) == before
    code, out, _ = pcneo("clean", "--everything", "--yes")
    assert (code, "All of pcneo's data has been removed." in out) == (0, True)
    assert everything(db.store).schema == ()


def test_what_stays_is_said_and_only_what_is_gone_counts_as_removed(db, tmp_path, pcneo):
    all_kinds(db, tmp_path, released=True)
    there = everything(db.store)
    db.run("MATCH (v:Person {id: 3}) SET v.noisy = v.noisy + 1")
    code, out, _ = pcneo("clean", "--everything", "--yes", "--json")
    printed = json.loads(out)
    removed, left = printed["removed"], printed["left"]
    assert (code, printed["properties"], printed["keptProperties"]) == (0, [], ["noisy"])
    assert (removed["runs"], removed["requests"], removed["ledger"], left["ledger"]) == (4, 4, 0, there.ledger)
    assert (removed["graphs"], removed["ledgerGraphs"], left["ledgerGraphs"]) == (1, [], ["friends"])
    assert left["schema"]
    assert {*removed["schema"], *left["schema"]} == {*there.schema}
    assert not {*removed["schema"]} & {*left["schema"]}
    code, out, err = pcneo("clean", "--everything", "--ledger", "--yes")
    assert (code, "The property noisy stays" in err, "as they were" in out) == (0, True, False)
    assert "except what releases wrote into properties that someone has changed since." in out


def test_graphs_are_open_to_others_afterwards(db, tmp_path):
    all_kinds(db, tmp_path, released=False)
    uninstall(db.store)
    annotate.write(db.store, p="1/2", **PERSONS)
    with open_graph(db.store, db.store.list_graphs()[0]) as opened:
        assert opened.lock.last_version == 1
