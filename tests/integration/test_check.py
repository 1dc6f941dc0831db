"""`check` finds everything that is broken on purpose here, and nothing where nothing is broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from graphs import Database
from requested import requested

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.errors import BudgetError, NotFoundError
from pcneo.release import Terms, release
from pcneo.release.checking import Checked, check
from pcneo.stored.cleaning import clean, uninstall

EDGES = [(1, 2), (1, 3), (2, 3), (3, 4), (4, 5), (5, 6), (4, 6)]
NAMES: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
RUN = "friends@1/2"
HUB = "MATCH (v:Person {id: 1})-[h:HAS_COHESION]->(c:PCohesion {run: 'friends@1/2'}) "
GRAPH = "MATCH (g:PCohesionGraph {name: 'friends'}) "

FAULTS = {
    "a membership is gone": (
        "MATCH (:Person {id: 1})-[m:IN_COHESION]->() WITH m LIMIT 1 DELETE m",
        RUN,
        "lost or gained",
    ),
    "a membership too many": (f"{HUB}MATCH (w:Person {{id: 6}}) CREATE (w)-[:IN_COHESION]->(c)", RUN, "lost or gained"),
    "an owner is gone": (f"{HUB}DELETE h", RUN, "exactly one vertex"),
    "two owners": (f"{HUB}MATCH (w:Person {{id: 6}}) CREATE (w)-[:HAS_COHESION]->(c)", RUN, "exactly one vertex"),
    "a label too many": (f"{HUB}SET c:PCohesionRetired", RUN, "PCohesionRetired"),
    "a run is gone": ("MATCH (r:PCohesionRun) DELETE r", RUN, "not on record"),
    "a version is gone": ("MATCH (v:PCohesionVersion) DELETE v", RUN, "has no record"),
    "a version is let go": ("MATCH (v:PCohesionVersion) SET v.readable = false", RUN, "is not kept"),
    "a graph is gone": (f"{GRAPH}DELETE g", RUN, "is gone"),
    "a type is gone": (f"{GRAPH}SET g.nodeLabels = ['Nobody']", "graph friends", "Nobody"),
}
"""What somebody does, what the finding is about, and a part of what it says."""

REMARKS = {
    "a writer in the middle": (f"{HUB}CREATE (v)-[:HAS_COHESION]->(:PCohesion {{run: c.run, from: 9, size: 0, "
                               "until: 9007199254740991})", RUN, "no reader sees"),
    "a run to come": (f"{GRAPH}CREATE (:PCohesionRun {{id: 'friends@1/3', graph: 'friends', search: 'density', "
                      "version: 0})",
                      "friends@1/3", "no version yet"),
}  # fmt: skip


@pytest.fixture(name="db")
def annotated_friends(db: Database) -> Database:
    db.put(EDGES)
    annotate.write(db.store, graph="friends", p="1/2", **NAMES)
    return db


def looked(db: Database, **wanted: Any) -> Checked:
    """What a check finds; it writes nothing."""
    everything = "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN elementId(n), labels(n), n {.*}, elementId(r)"
    before = sorted(map(repr, db.run(everything)))
    checked = check(db.store, **wanted)
    assert sorted(map(repr, db.run(everything))) == before
    return checked


def test_nothing_is_found_where_nothing_is_wrong(db: Database) -> None:
    annotate.write(db.store, graph="friends", p="1/3", vertices=[1, 2], **NAMES)
    db.run("MATCH (:Person {id: 4})-[r:KNOWS]->(:Person {id: 6}) DELETE r")
    annotate.write(db.store, graph="friends")  # an earlier version stays for readers
    checked = looked(db)
    assert checked.findings == ()
    assert [compared.run.id for compared in checked.runs] == ["friends@1/2", "friends@1/3:vertices"]
    assert checked.all_well


@pytest.mark.parametrize("what", FAULTS)
def test_each_fault_is_found(db: Database, what: str) -> None:
    text, about, says = FAULTS[what]
    db.run(text)
    checked = looked(db)
    faults = [finding for finding in checked.findings if finding.is_fault]
    assert any(about in finding.about and says in finding.what for finding in faults), checked
    assert not checked.all_well


@pytest.mark.parametrize("what", REMARKS)
def test_what_a_writer_leaves_in_the_middle_is_no_fault(db: Database, what: str) -> None:
    text, about, says = REMARKS[what]
    db.run(text)
    checked = looked(db)
    (finding,) = checked.findings
    assert about in finding.about
    assert says in finding.what
    assert checked.all_well
    left, told = db.all_hubs() - len(db.members(RUN)), []
    annotate.write(db.store, graph="friends", progress=lambda *at: told.append(at))  # clears it away
    swept = ("removing what an earlier writer left", left, None)
    assert [at for at in told if at[0].startswith("removing")] == [swept] * bool(left)
    assert looked(db).findings == ()


@pytest.mark.parametrize("wanted", ["friends@1/3", None])
def test_what_is_left_of_a_run_that_never_came_is_told_of_and_removed_by_its_id_or_with_all(
    db: Database, wanted: str | None
) -> None:
    if wanted is None:
        clean(db.store)
    db.run(REMARKS["a run to come"][0])
    hub = "(:PCohesion {run: 'friends@1/3', from: 9, size: 0, until: 9007199254740991})"
    db.run(f"MATCH (v:Person {{id: 1}}) CREATE (v)-[:HAS_COHESION]->{hub}")
    (finding,) = looked(db, run="friends@1/3").findings
    assert "`pcneo clean friends@1/3`" in finding.what
    cleaned = clean(db.store, run=wanted)
    assert (cleaned.runs, cleaned.hubs) == (("friends@1/3",), 1)
    assert looked(db).findings == ()
    assert set(db.versions()) == (set() if wanted is None else {RUN})


def test_schema_that_somebody_has_dropped_is_told_of_with_what_makes_it_again(db: Database) -> None:
    db.run("DROP CONSTRAINT pcneo_run_id")
    for (name,) in db.run("SHOW INDEXES YIELD name, labelsOrTypes WHERE 'Person' IN labelsOrTypes RETURN name"):
        db.run(f"DROP CONSTRAINT `{name}` IF EXISTS")
        db.run(f"DROP INDEX `{name}` IF EXISTS")
    found = check(db.store)
    assert found.all_well
    (own, key) = found.findings
    assert (own.about, key.about) == ("PCohesionRun(id)", "graph friends")
    assert own.what.startswith("This constraint is missing, or not online yet.")
    assert "CREATE CONSTRAINT pcneo_run_id" in own.what
    assert key.what.startswith("Person(id), the key, has no index.")
    annotate.write(db.store, graph="friends", create_index=True)
    assert not check(db.store).findings


def test_a_graph_that_has_moved_and_memberships_that_were_exchanged_are_found(db: Database) -> None:
    db.run("MATCH (:Person {id: 4})-[r:KNOWS]->(:Person {id: 6}) DELETE r")
    checked = looked(db)
    assert [(compared.graph_same, compared.memberships_same) for compared in checked.runs] == [(False, True)]
    assert not checked.all_well
    db.run(
        "MATCH (a:Person {id: 1})-[m:IN_COHESION]->(c:PCohesion {run: $run}), (b:Person {id: 6}) "
        "WHERE NOT (b)-[:IN_COHESION]->(c) WITH m, b, c LIMIT 1 DELETE m CREATE (b)-[:IN_COHESION]->(c)",
        run=RUN,
    )
    checked = looked(db, run="friends")
    assert checked.findings == ()  # as many as before, and others
    assert checked.runs[0].memberships_same is False


def test_the_ledger_is_looked_at(db: Database, tmp_path: Any) -> None:
    request = requested(to=tmp_path / "a.csv", mechanism="critical", epsilon="1")
    release(db.store, requests=[request], terms=Terms(budget_epsilon=2))
    assert looked(db).findings == ()
    db.run("MATCH (b:PCohesionBudget) SET b.epsilon = '1/2'")
    db.run("MATCH (r:PCohesionRelease) SET r.runVersion = 7")
    says = [(finding.is_fault, finding.what) for finding in looked(db).findings]
    assert [fault for fault, _ in says] == [False, False]
    assert "have spent" in says[0][1]
    assert "version 7" in says[1][1]
    db.run(f"{GRAPH}CREATE (:PCohesionGraph {{name: 'other'}}) WITH g MATCH (o:PCohesionGraph {{name: 'other'}}) "
           "SET o += g {.*, name: 'other'}")  # fmt: skip
    db.run("CREATE (:PCohesionBudget {graph: 'other', epsilon: '1', delta: '0', who: 'me', at: datetime()})")
    assert any("shares data" in finding.what and finding.is_fault for finding in looked(db).findings)


def test_of_one_graph_its_runs_its_remains_and_its_part_of_the_ledger_are_looked_at(
    db: Database, tmp_path: Any
) -> None:
    request = requested(to=tmp_path / "a.csv", mechanism="critical", epsilon="1")
    release(db.store, requests=[request], terms=Terms(budget_epsilon=2))
    annotate.write(db.store, graph="other", p="1/2", **NAMES)
    db.run("MATCH (r:PCohesionRelease) SET r.runVersion = 7")
    db.run("MATCH (v:Person {id: 1}) CREATE (v)-[:HAS_COHESION]->(:PCohesion {run: 'friends@1/7'})")
    db.run(REMARKS["a run to come"][0])
    of_friends, of_other = looked(db, graph="friends"), looked(db, graph="other")
    assert [compared.run.id for compared in of_friends.runs] == [RUN]
    assert {finding.about.split()[0] for finding in of_friends.findings} == {"run", "release"}
    assert len(of_friends.findings) == 3
    assert [compared.run.id for compared in of_other.runs] == ["other@1/2"]
    assert of_other.findings == ()
    with pytest.raises(NotFoundError, match=r"no graph 'freinds'.* Did you mean friends"):
        check(db.store, graph="freinds")
    db.run(f"{GRAPH}DETACH DELETE g")
    assert any("is gone" in finding.what for finding in looked(db, graph="friends").findings)


def test_a_run_whose_graph_is_gone_is_not_said_to_be_removed_and_can_be_once_the_graph_is_made_again(
    db: Database,
) -> None:
    db.run(f"{GRAPH}DETACH DELETE g")
    (finding,) = [found for found in looked(db).findings if found.about == f"run {RUN}" and "is gone" in found.what]
    assert "Annotate with --graph friends and its labels, types and key to make it again" in finding.what
    for dry_run in (True, False):
        cleaned = clean(db.store, dry_run=dry_run)
        assert (cleaned.runs, cleaned.hubs) == ((), 0)
    assert db.run("MATCH (r:PCohesionRun) RETURN r.id") == [[RUN]]
    annotate.write(db.store, graph="friends", p="1/2", **NAMES)
    assert looked(db).all_well
    assert clean(db.store).runs == (RUN,)
    assert db.run("MATCH (c:PCohesion) RETURN c") == db.run("MATCH (r:PCohesionRun) RETURN r") == []


def test_a_release_whose_graph_is_gone_is_told_of_and_is_no_fault_of_its_own(db: Database, tmp_path: Any) -> None:
    request = requested(to=tmp_path / "a.csv", mechanism="critical", epsilon="1")
    release(db.store, requests=[request], terms=Terms(budget_epsilon=2))
    db.run(f"{GRAPH}DETACH DELETE g")
    for graph in ("friends", None):
        of_releases = [found for found in looked(db, graph=graph).findings if found.about.startswith("release")]
        assert [(found.is_fault, "still counts against" in found.what) for found in of_releases] == [(False, True)]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("r.epsilon = '-5/1'", "ε = -5"),
        ("r.epsilon = 'x'", "no number"),
        ("r.delta = '1/1'", "δ = 1"),
        ("r.membershipHash = null", "which groups it rests on"),
    ],
)
def test_a_ledger_that_somebody_has_changed_admits_nothing(db: Database, tmp_path: Any, change: str, says: str) -> None:
    request = requested(to=tmp_path / "a.csv", mechanism="critical", epsilon="1")
    release(db.store, requests=[request], terms=Terms(budget_epsilon=2))
    db.run(f"MATCH (r:PCohesionRelease) SET {change}")
    (finding,) = looked(db).findings
    assert finding.is_fault
    assert says in finding.what
    with pytest.raises(BudgetError, match="put right"):
        release(db.store, requests=[replace(request, to=tmp_path / "b.csv")])
    assert not (tmp_path / "b.csv").exists()


def test_what_is_wrong_with_the_cohesions_of_a_run_is_one_finding(db: Database) -> None:
    for what in ("a membership is gone", "an owner is gone"):
        db.run(FAULTS[what][0])
    (fault,) = [finding.what for finding in looked(db, run=RUN).findings if finding.is_fault]
    assert fault == (
        "Damaged cohesions: 1 that lost or gained members; 1 that do not belong to exactly one vertex. "
        "`pcneo annotate --graph friends` writes them again."
    )


def test_the_command_says_where_nothing_is_stored(db: Database, pcneo: Callable[..., Any]) -> None:
    uninstall(db.store)
    assert pcneo("check")[:2] == (0, "pcneo has stored nothing here.\n")


def test_the_command_leaves_with_4_where_there_is_a_fault(db: Database, pcneo: Callable[..., Any]) -> None:
    code, out, _ = pcneo("check")
    assert (code, "Nothing is wrong." in out) == (0, True)
    db.run(FAULTS["an owner is gone"][0])
    code, out, _ = pcneo("check")
    assert (code, "FAULT" in out) == (4, True)
    code, out, _ = pcneo("check", "--json")
    assert code == 4
    assert json.loads(out)["findings"][0]["about"] == f"run {RUN}"
    with pytest.raises(NotFoundError):
        check(db.store, run="nobody's")
