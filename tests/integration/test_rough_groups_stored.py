"""Groups of answers as a separate kind of run on a real Neo4j: stored, queried, never taken for groups of the graph."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import naive
import neo4j
import pytest
from graphs import Database
from requested import requested

from pcneo import annotate
from pcneo.basics.searches import P
from pcneo.errors import GraphChangedError, NotFoundError, ParameterError
from pcneo.release import Terms, release
from pcneo.release.rough_groups import annotate_answers
from pcneo.stored.queries import run_query
from pcneo.stored.runs import find_run, list_runs
from pcneo.stored.verifying import verify

NAME = "Person/KNOWS/id"
CLIQUES = [range(1, 9), range(9, 17), range(17, 25)]
EDGES = [pair for clique in CLIQUES for pair in combinations(clique, 2)] + [(8, 9), (16, 17), (24, 25), (25, 26)]


@pytest.fixture(name="db")
def three_cliques(db: Database) -> Database:
    db.put(EDGES)
    return db


@pytest.fixture
def answers(db: Database, tmp_path: Path) -> Path:
    return released(db, tmp_path / "out.json", "5")


def released(db: Database, to: Path, epsilon: str, **terms: Any) -> Path:
    wanted = requested(to=to, mechanism="respond", epsilon=epsilon, answers="publish")
    release(db.store, requests=[wanted], terms=Terms(**{"budget_epsilon": 20, "anyway": True, **terms}))
    return to.with_suffix(".answers.gz")


def twin_of(path: Path, epsilon: str) -> naive.Graph:
    """The graph that groups of the published answers are searched in, from the file alone."""
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    pairs = [tuple(map(int, line.split())) for line in lines if not line.startswith("#")]
    yes = naive.graph_of([(a, b) for a, b in pairs], isolated=range(1, 27))
    near = naive.sharing_pairs(yes, naive.flip_chance(Fraction(epsilon)))
    return naive.graph_of([(min(pair), max(pair)) for pair in near], isolated=range(1, 27))


def test_groups_follow_from_the_published_answers_alone(db: Database, answers: Path) -> None:
    """A connection that has gone since makes no difference; what is stored of edges is of the answers, too."""
    db.run("MATCH (:Person {id: 1})-[e:KNOWS]-(:Person {id: 2}) DELETE e")
    made = annotate_answers(db.store, answers_from=answers, p="1/2")
    (run,) = made.written.runs
    assert run.run.startswith(f"{NAME}@1/2:answers:")
    assert run.scope == "answers"
    twin = twin_of(answers, "5")
    stored = db.cohesions(run.run)
    assert {v: set(hub.members) for v, hub in stored.items()} == {
        v: naive.smallest_p_cohesion(twin, Fraction(1, 2), v)[0] for v in twin
    }
    for hub in stored.values():
        inside = sum(b in twin[a] for a, b in combinations(hub.members, 2))
        assert hub.properties["edges"] == inside
    assert "These groups are rough." in made.rough
    again = annotate_answers(db.store, answers_from=answers, p="1/2")
    assert not again.written.runs[0].changed
    assert again.written.runs[0].run == run.run


def test_they_are_told_from_the_graph_s_own_in_every_way_that_a_run_is_found(db: Database, answers: Path) -> None:
    with pytest.raises(NotFoundError):
        find_run(db.store, p="1/2", run="no such")
    made = annotate_answers(db.store, answers_from=answers, p="1/2")
    rough = made.written.runs[0].run
    for choice in ({}, {"p": "1/2"}, {"graph": NAME}):
        with pytest.raises(NotFoundError, match="no run of a whole graph"):
            find_run(db.store, **choice)  # type: ignore[arg-type]
    wanted = requested(to=answers.parent / "critical.json", mechanism="critical", epsilon="1")
    for choice in ({}, {"run": rough}, {"p": "1/2"}):
        with pytest.raises(NotFoundError, match="There is no run"):
            release(db.store, requests=[replace(wanted, **choice)], terms=Terms(dry_run=True))
    own = annotate.write(db.store, p="1/2").runs[0].run
    assert own == f"{NAME}@1/2"
    assert find_run(db.store, p="1/2").run.id == own
    assert {stored.run.id for stored in list_runs(db.store)} == {own, rough}
    updated = annotate.write(db.store)
    assert [run.run for run in updated.runs] == [own]
    assert find_run(db.store, run=rough).run.version == made.written.runs[0].version


def test_they_are_queried_and_verified_like_others_and_said_to_be_rough(
    db: Database, pcneo: Callable[..., Any], answers: Path
) -> None:
    code, out, err = pcneo("annotate", "--from", answers, "-p", "1/2", "-p", "0.3")
    assert code == 0, err
    assert "These groups are rough. About " in err
    assert ":answers:" in out
    run = next(stored.run for stored in list_runs(db.store) if stored.run.search.p == P("1/2"))
    code, _, err = pcneo("show", 1, run.id)
    assert code == 0, err
    assert "only roughly" in err
    code, _, err = pcneo("queries", "largest_cohesions", "--run", run.id)
    assert code == 0, err
    assert "only roughly" in err
    result = run_query(db.store, "largest_cohesions", parameters={"run": run.id})
    assert result.rows
    code, out, err = pcneo("runs")
    assert "answers" in out
    db.run("MATCH (:Person {id: 1})-[e:KNOWS]-(:Person {id: 2}) DELETE e")
    assert not any(stored.moved for stored in list_runs(db.store))
    verified = db.verified()
    assert [(verdict.graph_same, verdict.memberships_same) for verdict in verified] == [(None, True)] * 2
    db.run("MATCH (:Person {id: 3})-[e:IN_COHESION]->(c:PCohesion {run: $run}) WITH e LIMIT 1 DELETE e", run=run.id)
    assert not verify(db.store, run=run.id).memberships_same
    code, _, err = pcneo("clean", run.id)
    assert code == 0, err
    assert run.id not in {stored.run.id for stored in list_runs(db.store)}


def test_each_set_of_answers_has_its_own_run(db: Database, answers: Path, tmp_path: Path) -> None:
    # at ε=2 about 39 of the 325 pairs are flipped, at the 5 of `answers` about 2: the sets differ
    other = released(db, tmp_path / "more.json", "2", budget_epsilon=None)
    runs = {annotate_answers(db.store, answers_from=f, p="1/2").written.runs[0].run for f in (answers, other)}
    assert len(runs) == 2


def test_only_answers_of_respond_make_groups(db: Database, pcneo: Callable[..., Any], tmp_path: Path) -> None:
    annotate.write(db.store, p="1/2")
    wanted = requested(to=tmp_path / "c.json", mechanism="critical", epsilon="1", answers="publish")
    release(db.store, requests=[wanted], terms=Terms(budget_epsilon=20, anyway=True))
    before = db.everything()
    code, _, err = pcneo("annotate", "--from", tmp_path / "c.answers.gz", "-p", "1/2")
    assert (code, "Rough groups need answers of respond; those in" in err) == (2, True), err
    assert db.everything() == before


def nothing_stored(db: Database) -> bool:
    return db.run("MATCH (n) WHERE n:PCohesion OR n:PCohesionRun OR n:PCohesionVersion RETURN count(n)") == [[0]]


def test_answers_that_the_ledger_does_not_know_are_refused(db: Database, answers: Path, tmp_path: Path) -> None:
    lines = gzip.decompress(answers.read_bytes()).decode().splitlines(keepends=True)
    forged = tmp_path / "forged.answers.gz"
    forged.write_bytes(gzip.compress("".join(lines[:-1]).encode()))
    with pytest.raises(NotFoundError, match="has no answers that match those in"):
        annotate_answers(db.store, answers_from=forged, p="1/2")
    assert nothing_stored(db)


def test_answers_that_say_nothing_are_refused_before_anything_is_stored(
    neo4j_driver: neo4j.Driver, empty_database: str, tmp_path: Path
) -> None:
    """600 vertices and one connection at ε=1: 48,000 flips; 2,400 connections would do, six standard deviations off."""
    db = Database(neo4j_driver, empty_database)
    db.put([(1, 2)], isolated=range(600))
    blurred = released(db, tmp_path / "out.json", "1")
    with pytest.raises(ParameterError, match=r"would mean nothing: of the .* about 48,3\d\d are flips"):
        annotate_answers(db.store, answers_from=blurred, p="1/2")
    assert nothing_stored(db)


def test_other_vertices_than_were_answered_for_are_refused(db: Database, answers: Path) -> None:
    db.run("CREATE (:Person {id: 99})")
    with pytest.raises(GraphChangedError, match=r"vertices of graph .* have changed since"):
        annotate_answers(db.store, answers_from=answers, p="1/2")
    assert nothing_stored(db)


@pytest.mark.parametrize(
    "wrong",
    [["--mode", "stream"], ["--vertex", "1"], ["--mode", "stats"], ["--scheduler", "tcp://127.0.0.1:1"]],
    ids=str,
)
def test_groups_of_answers_are_stored_for_every_vertex(
    pcneo: Callable[..., Any], tmp_path: Path, wrong: list[str]
) -> None:
    code, _, err = pcneo("annotate", "--from", tmp_path / "a.answers.gz", "-p", "0.3", *wrong)
    assert code == 2
    assert "Groups from answers are always stored" in err
