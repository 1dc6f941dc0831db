"""A daily release on the groups of one kept version, on a real Neo4j whose graph moves on."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import Any

import naive
import pytest
from graphs import Database
from requested import requested

from pcneo import annotate
from pcneo.basics.selection import Selection
from pcneo.errors import BudgetError, GraphChangedError, NotFoundError, ParameterError
from pcneo.privacy.mechanisms import EARLIER_GROUPS
from pcneo.release import Prepared, Terms, budget, release
from pcneo.store.ledger import versions_relied_on
from pcneo.store.standing import Keeping, open_graph
from pcneo.store.transaction import Transaction
from pcneo.stored.versions import let_go

NAME = "Person/KNOWS/id"
RUN = f"{NAME}@1/2"
PERSONS: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}
EDGES = [(1, 2), (1, 3), (2, 3), (2, 4), (3, 4), (4, 5), (5, 6), (4, 6), (6, 7), (7, 8), (8, 9), (7, 9), (30, 31)]


@pytest.fixture(name="db")
def annotated_with_a_total(db: Database) -> Database:
    db.put(EDGES)
    annotate.write(db.store, p=0.5, **PERSONS)
    budget.set_total(db.store, graph=NAME, epsilon=1)
    return db


def make(db: Database, to: Path, *, terms: Terms = Terms(), **changed: Any) -> Prepared:
    request = requested(**{"to": to, "mechanism": "critical", "epsilon": "0.3", **changed})
    (prepared,), _ = release(db.store, requests=[request], terms=terms)
    return prepared


def version(db: Database) -> int:
    return db.run("MATCH (r:PCohesionRun {id: $run}) RETURN r.version", run=RUN)[0][0]


def move_on(db: Database) -> None:
    """One vertex goes, one comes, a connection comes and one goes."""
    db.run("MATCH (v:Person {id: 1}) DETACH DELETE v")
    db.run(
        "MATCH (a:Person {id: 2}), (b:Person {id: 3}), (c:Person {id: 5}) CREATE (n:Person {id: 20}) "
        "CREATE (n)-[:KNOWS]->(a) CREATE (n)-[:KNOWS]->(b) CREATE (c)-[:KNOWS]->(b)"
    )
    db.run("MATCH (:Person {id: 8})-[e:KNOWS]-(:Person {id: 9}) DELETE e")


def graph_now(db: Database) -> naive.Graph:
    rows = db.run("MATCH (a:Person)-[:KNOWS]->(b:Person) RETURN a.id, b.id")
    return naive.graph_of([(a, b) for a, b in rows], isolated=[v for (v,) in db.run("MATCH (v:Person) RETURN v.id")])


def groups_of(prepared: Prepared) -> set[frozenset[int]]:
    groups, keys = prepared.facts.groups, prepared.source.graph.keys
    assert groups is not None
    bounds = zip(groups.offsets, groups.offsets[1:], strict=False)
    return {frozenset(keys[groups.members[a:b]].tolist()) for a, b in bounds}


def test_a_daily_release_on_one_version_has_one_budget_and_counts_the_graph_as_it_is(
    db: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    first = version(db)
    on_first_day = make(db, tmp_path / "1.json")
    earlier = {frozenset(cohesion.members) for cohesion in db.cohesions(RUN).values()}
    move_on(db)
    annotate.write(db.store, p=0.5, **PERSONS)
    assert version(db) > first
    with pytest.raises(BudgetError, match="another set of memberships"):
        make(db, tmp_path / "none.json")
    second = make(db, tmp_path / "2.json", groups=first)
    assert "10 of its 11 vertices are still there, and 1 came later, in no group" in caplog.text
    assert groups_of(second) == {group - {1} for group in earlier}
    db.run("MATCH (a:Person {id: 20}), (b:Person {id: 4}) CREATE (a)-[:KNOWS]->(b)")  # without annotating
    third = make(db, tmp_path / "3.json", groups=first)
    assert groups_of(third) == groups_of(second)

    now = graph_now(db)
    pairs = naive.pairs_inside(groups_of(third))
    every = naive.cliques(naive.with_pairs(now, pairs), 3)
    touched = [clique for clique in every if pairs & set(combinations(sorted(clique), 2))]
    counts, truth = json.loads((tmp_path / "3.json").read_text()), naive.clique_counts(now, 3)
    exact = set(now) - set().union(*touched)
    assert exact
    assert {row["key"] for row in counts["counts"]} == set(now)
    assert {row["key"]: row["count"] for row in counts["counts"] if row["key"] in exact} == {v: truth[v] for v in exact}
    assert counts["promise"].endswith(EARLIER_GROUPS)
    assert EARLIER_GROUPS not in (tmp_path / "1.json").read_text()
    assert EARLIER_GROUPS in (tmp_path / "owner" / "3.owner.md").read_text()
    report = json.loads((tmp_path / "owner" / "3.owner.json").read_text())
    assert (report["runVersion"], report["fingerprint"]) == (first, third.source.fingerprint)

    entries = [e for (e,) in db.run("MATCH (r:PCohesionRelease) RETURN properties(r) ORDER BY r.at")]
    assert [e["runVersion"] for e in entries] == [first] * 3
    assert len({e["membershipHash"] for e in entries}) == 1
    prints = [e.get("fingerprint") for e in entries]
    assert prints == [day.source.fingerprint for day in (on_first_day, second, third)]
    assert len(set(prints)) == 3
    (shown,) = budget.show(db.store, graph=NAME)
    assert [str(cost) for cost in shown.account.sets.values()] == ["ε = 0.9, δ = 0"]
    with pytest.raises(BudgetError, match=r"ε = 0\.1"):
        make(db, tmp_path / "4.json", groups=first)
    assert not (tmp_path / "4.json").exists()


def test_the_groups_of_a_release_stay_though_many_versions_come(db: Database, tmp_path: Path) -> None:
    first = version(db)
    make(db, tmp_path / "1.json")
    for v in (4, 5, 6, 7, 8):
        db.run("MATCH (v:Person {id: $v}) DETACH DELETE v", v=v)
        annotate.write(db.store, p=0.5, **PERSONS)
    groups = groups_of(make(db, tmp_path / "2.json", groups=first))
    assert frozenset([1, 2]) in groups or frozenset([1, 2, 3]) in groups
    assert {v for group in groups for v in group} == {1, 2, 3, 9, 30, 31}


AWAY, BACK = "while they are away", "once they are back"


@pytest.mark.parametrize(
    ("gone", "annotated"),
    [
        ([1], ()),
        ([1], (AWAY,)),
        ([4, 5], (BACK,)),
        ([4, 5], (AWAY, BACK)),
        ([v for edge in EDGES for v in edge], ()),
        ([v for edge in EDGES for v in edge], (BACK,)),
    ],
    ids=lambda what: f"{len(set(what))} gone" if what and isinstance(what[0], int) else " and ".join(what) or "never",
)
def test_vertices_that_came_back_are_refused_whenever_the_graph_was_annotated(
    db: Database, pcneo: Callable[..., Any], tmp_path: Path, gone: list[int], annotated: tuple[str, ...]
) -> None:
    """The same keys and connections as before, and nothing of what was stored about them."""
    first, gone = version(db), sorted(set(gone))
    tmp_path.chmod(0o700)
    make(db, tmp_path / "1.json", answers="keep")
    lost = [edge for edge in EDGES if set(edge) & set(gone)]
    db.run("MATCH (v:Person) WHERE v.id IN $gone DETACH DELETE v", gone=gone)
    if AWAY in annotated:
        annotate.write(db.store, p=0.5, **PERSONS)
    db.run("UNWIND $gone AS id CREATE (:Person {id: id})", gone=gone)
    db.run(
        "UNWIND $lost AS edge MATCH (a:Person {id: edge[0]}), (b:Person {id: edge[1]}) CREATE (a)-[:KNOWS]->(b)",
        lost=[list(edge) for edge in lost],
    )
    if BACK in annotated:
        annotate.write(db.store, p=0.5, **PERSONS)
    before = db.everything()
    kept = tmp_path / "owner" / "1.answers.gz"
    common = ["release", "--mechanism", "critical", "--to", tmp_path / "out.json"]
    ways = {("-e", "0.1", "--groups", first): "has come back", ("--from", kept): "has come back|no longer those"}
    if BACK not in annotated:
        ways["-e", "0.1"] = "another set of memberships" if AWAY in annotated else "no longer those"
    for way, why in ways.items():
        code, out, err = pcneo(*common, *way)
        assert (code, out) == (9 if "another set" in why else 4, ""), way
        assert re.search(why, err), err
        assert db.everything() == before
        assert sorted(path.name for path in tmp_path.iterdir()) == ["1.json", "owner"]
    if BACK in annotated:  # groups that know everybody again; they are the same set, and it has one account
        assert pcneo(*common, "-e", "0.1")[0] == 0
        (shown,) = budget.show(db.store, graph=NAME)
        assert [str(cost) for cost in shown.account.sets.values()] == ["ε = 0.4, δ = 0"]


def test_what_has_changed_of_the_groups_is_refused_and_nothing_is_spent(db: Database, tmp_path: Path) -> None:
    first = version(db)
    changes = {
        "has come back": "MATCH (v:Person {id: 1}) DETACH DELETE v CREATE (w:Person {id: 1})",
        "no longer those that were written": "MATCH (v:Person {id: 2}) SET v.id = 22",
        "members came or went": "MATCH (:Person {id: 4})-[e:IN_COHESION]->(c) WITH e LIMIT 1 DELETE e",
        "of 11 cohesions": "MATCH (:Person {id: 5})-[:HAS_COHESION]->(c) DETACH DELETE c",
    }
    for why, change in changes.items():
        db.run("MATCH (n) DETACH DELETE n")
        db.put(EDGES)
        annotate.write(db.store, p=0.5, **PERSONS)
        first = version(db)
        db.run(change)
        with pytest.raises(GraphChangedError, match=why):
            make(db, tmp_path / "out.json", groups=first, terms=Terms(budget_epsilon=1))
        assert db.run("MATCH (r:PCohesionRelease) RETURN count(r)") == [[0]]
        assert not list(tmp_path.iterdir())


def test_a_version_that_is_not_kept_or_a_mechanism_without_groups_is_refused(
    db: Database, pcneo: Callable[..., Any], tmp_path: Path
) -> None:
    first = version(db)
    with pytest.raises(NotFoundError, match=f"has no version 99; it has {first}"):
        make(db, tmp_path / "out.json", groups=99)
    for name in ("edge", "respond", "published"):
        with pytest.raises(ParameterError, match="leave --groups out"):
            make(db, tmp_path / "out.json", mechanism=name, groups=first)
    move_on(db)
    annotate.write(db.store, p=0.5, **PERSONS)
    let_go(db.store, run=RUN, version=first)
    arguments = ["--mechanism", "critical", "-e", "0.1", "--to", tmp_path / "out.json", "--groups"]
    code, _, err = pcneo("release", *arguments, first)
    assert code == 4
    assert f"has no version {first}" in err
    code, out, err = pcneo("release", *arguments, version(db))
    assert code == 0, err
    assert EARLIER_GROUPS in out


def test_a_version_is_not_let_go_under_a_release_though_the_lock_of_its_graph_was_lost(
    db: Database, tmp_path: Path
) -> None:
    """The release is made between the look at what releases rest on and the end of that version."""
    first = version(db)
    move_on(db)
    annotate.write(db.store, p=0.5, **PERSONS)
    (record,) = db.store.list_graphs()
    with ThreadPoolExecutor(1) as pool, open_graph(db.store, record) as opened:
        with opened.last_writes():
            pass  # which ends the transaction that holds the lock
        spends: list[Future[Prepared]] = []

        def ask(transaction: Transaction, run: str) -> set[int]:
            on = versions_relied_on(db.store, transaction, run)
            spends.append(pool.submit(make, db, tmp_path / "out.json", groups=first))
            with suppress(TimeoutError):
                spends[0].result(timeout=5)
            return on

        opened.trim(RUN, Keeping(versions=0, seconds=0), ask)
        with pytest.raises(GraphChangedError, match="no longer kept"):
            spends[0].result(timeout=60)
    assert db.run("MATCH (r:PCohesionRelease) RETURN count(r)") == [[0]]


def test_a_dry_run_says_what_it_would_be_and_spends_nothing(db: Database, tmp_path: Path) -> None:
    first = version(db)
    move_on(db)
    prepared = make(db, tmp_path / "out.json", groups=first, terms=Terms(dry_run=True))
    assert prepared.kept
    assert prepared.run is not None
    assert prepared.run.version == first
    assert not list(tmp_path.iterdir())
    assert db.run("MATCH (r:PCohesionRelease) RETURN count(r)") == [[0]]
