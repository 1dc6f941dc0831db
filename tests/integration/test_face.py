"""What Python users hold: the examples of its docstrings on a real database, and what they do not show."""

from __future__ import annotations

import doctest
import pickle
import random
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from graphs import Database

import pcneo as package
from pcneo.errors import (
    ConnectionFailedError,
    FileFormatError,
    GraphChangedError,
    KeyPropertyError,
    NotFoundError,
    ParameterError,
)
from pcneo.face.first_steps import sample_path
from pcneo.privacy.noise import ReleaseNoise
from pcneo.release.audit import auditing
from pcneo.stored import versions

PERSONS: dict[str, Any] = {"node_labels": "Person", "relationship_types": "KNOWS", "key": "id"}
pytestmark = pytest.mark.schema("bare")
MODULES = ("budget_handle", "connecting", "graph_handle", "graph_modes", "listings", "release_handle", "run_handle")


@pytest.fixture
def db(
    server_in_environment: None, empty_database: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[package.Db]:
    """An empty database, as `connect()` finds it, in an empty folder; audits draw few releases."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(auditing, "_MOST_RELEASES", 2)
    monkeypatch.setattr(auditing, "_ATTACKED_PAIRS", 0)
    with package.connect(database=empty_database) as db:
        yield db


@pytest.fixture
def friends(db: package.Db) -> package.GraphHandle:
    """The sample, with a run at p = 0.3."""
    db.load(sample_path(), node_label="Person", relationship_type="KNOWS", key="id")
    friends = db.graph("friends", **PERSONS)
    friends.annotate(p="0.3")
    return friends


@pytest.fixture
def ring(db: package.Db) -> package.GraphHandle:
    """Six vertices in a ring, keys 5 to 10."""
    db.load(
        [(5, 6), (6, 7), (7, 8), (8, 9), (9, 10), (10, 5)], node_label="Person", relationship_type="KNOWS", key="id"
    )
    return db.graph("ring", **PERSONS)


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_docstrings_run_as_they_stand(
    module: str, db: package.Db, friends: package.GraphHandle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    failed = 0
    tests = doctest.DocTestFinder().find(import_module(f"pcneo.face.{module}"))
    for i, example in enumerate(sorted((test for test in tests if test.examples), key=_order)):
        (tmp_path / str(i)).mkdir()
        monkeypatch.chdir(tmp_path / str(i))
        example.globs |= {"pcneo": package, "db": db, "friends": friends, "run": friends.run("0.3")}
        if module in ("release_handle", "run_handle", "budget_handle") and friends.budget.total is None:
            friends.budget.set(epsilon=6, delta="1e-4")
        if "load_cohesions" in example.name:
            friends.to_parquet("friends.parquet", p="0.3")
        failed += doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(
            example, out=told.append
        )[0]
    assert not failed, "".join(told)


def _order(test: doctest.DocTest) -> tuple[bool, str]:
    """What loads a further graph comes last: it would be a second choice."""
    return test.name.endswith(".load"), test.name


def test_what_the_face_shows_of_a_day_with_it_runs_as_it_stands(db: package.Db, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    loaded = db.load(sample_path(), node_label="Person", relationship_type="KNOWS", key="id")
    assert repr(loaded).splitlines()[1:] == [
        "  nodes: 800 created, 0 already there",
        "  relationships: 6,418 created, 0 already there",
    ]
    friends = db.graph("friends", **PERSONS)
    assert db.graphs() == []  # nothing is written yet
    assert friends.estimate(p="0.3").vertices == friends.stats(p=["0.1", "0.3"]).vertices == 800
    assert isinstance(friends.stream(p="0.3", vertices=[58]).to_pandas(), pandas.DataFrame)
    assert repr(db).startswith(f"<Db {db.name} at bolt://")
    found = "800 vertices, 6,418 edges"
    first, *lines = repr(friends.stats(p=["0.1", "0.3"])).splitlines()
    assert first == f"Sizes and densities: {found}; nothing was written"
    assert lines[0].startswith("  p=1/10: mean size 3.2"), lines
    assert lines[1].startswith("  p=3/10: mean size 14, largest "), lines
    first, line = repr(friends.estimate(p="0.1")).splitlines()
    assert first == f"Estimates: {found}; nothing was written"
    assert re.fullmatch(
        r"  p=1/10: about [\d,]+ memberships \([\d,]+ to [\d,]+\); search [\d.]+ s, writing [\d.]+ s, "
        r"in total, with reading, [\d.]+ s; [\d.]+ MB in the store",
        line,
    ), line
    result = friends.annotate(p="0.3")
    assert (result.run.version, len(result.runs), result.configuration["p"]) == (1, 1, ["3/10"])
    assert repr(result) == f"friends: {found}; runs friends@3/10 (version 1: 800 new, 0 gone)"
    (updated,) = result.runs
    assert re.fullmatch(
        r"friends@3/10, version 1: \d+ cohesions, [\d,]+ memberships; \d+ cohesions added, 0 removed", repr(updated)
    ), updated
    run = db.graph("friends").run("0.3")
    assert re.fullmatch(
        r"Run friends@3/10, version 1: 800 cohesions, [\d,]+ memberships, search smallest", repr(run.record)
    )
    assert repr(run.check()) == "Run friends@3/10, version 1: graph as read: same; memberships as written: same"
    assert repr(db.clean(dry_run=True)) == "Clean: 1 run (friends@3/10), 800 cohesions"
    audited = friends.audit(epsilon=1)
    first, *lines = repr(audited).splitlines()
    assert audited.to_pandas()["name"].tolist() == [row.name for row in audited.rows]
    assert first == "Audit of friends@3/10, for the owner alone: 800 vertices, 6,418 connections, k=3, ε=1"
    assert lines[0].startswith("  zeros: mean error of a count "), lines
    asked = run.query("critical_connections", id=58)
    first, *lines = repr(asked).splitlines()
    assert first == "12 rows of a, b, relationships: run friends@3/10, version 1"
    assert [line.split() for line in lines] == [*([str(a), str(b), "KNOWS"] for a, b, _ in asked.rows[:10]), ["…"]]
    run[58].draw("58.svg")
    assert Path("58.svg").read_bytes().startswith(b"<?xml")
    page = run[58].draw("58.html")
    assert page.opens == run[58].size  # type: ignore[union-attr] - every member has a cohesion
    assert Path("58.html").read_bytes().startswith(b"<!doctype html>")
    db.driver.execute_query("MATCH (a:Person {id: 124}), (b:Person {id: 165}) MERGE (a)-[:KNOWS]->(b)")
    friends.annotate(p="0.3")
    assert [version.version for version in run.history()] == [1, 2]
    assert len(run.diff(1, 2)) > 0
    assert {"best_before", "best_after"} <= run.diff(1, 2).as_columns().keys()
    assert all(one.after.best == run[one.vertex].best for one in run.diff(1, 2) if one.after)
    assert run.version(1).record.version == 1
    assert run.record.version == 2  # follows
    assert run.query("critical_connections", id=58).to_pandas().shape[0] > 0
    assert run.export("run.graphml").nodes == 800
    friends.budget.set(epsilon=6)
    out = run.release(package.Critical(k=(3, 4), epsilon=1), to="counts.csv")
    assert [file.name for file in out.files] == ["counts-k3-e1.csv", "counts-k4-e1.csv"]
    assert "inside a group" in out.promise
    assert out.plain_words
    assert out.standard_error[3]
    assert set(out.to_pandas()["k"]) == {3, 4}
    assert friends.budget.spent.epsilon == 1
    Path("releases.csv").write_text("mechanism,epsilon,to,k\ncritical,1,a.csv,3\n")
    (row,) = db.release_batch("releases.csv")
    assert row.files == (Path("a.csv"),)
    assert len(package.advise(n=800, mean_degree=16, epsilon=1).mechanisms) == 7
    assert len(db.runs()) == 1
    assert db.check().all_well
    assert db.clean(dry_run=True).runs == (run.id,)
    assert len(db.runs()) == 1
    assert run.remove() > 0
    assert len(db.runs()) == 0
    with pytest.raises(NotFoundError):
        _ = run[58]


def test_vertices_are_keys_everywhere(ring: package.GraphHandle) -> None:
    seven: Any = np.int64(7)
    assert [c.vertex for c in ring.stream(p="0.7", vertices=[seven, 9])] == [7, 9]
    ring.annotate(p="0.7")
    run = ring.run("0.7")
    assert run[7].vertex == run[seven].vertex == 7
    assert {c.vertex for c in run} == set(range(5, 11))
    assert (7 in run, "7" in run, 4 in run, 7.0 in run, True in run) == (True, True, False, False, False)
    for key in (True, 7.0, np.float32(7), None):
        with pytest.raises(TypeError, match="a key must be an integer or text"):
            run[key]  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r"by key, not by position; head\(3\)"):
        run[:3]  # pyright: ignore[reportArgumentType]
    with pytest.raises(KeyError) as raised:
        run[4]
    assert str(raised.value) == "Graph 'ring' has no vertex 4: no :Person has this `id`."
    assert run.get(4) is None


def test_iterating_is_at_one_version_and_ends_with_an_error_if_that_is_let_go(
    ring: package.GraphHandle, db: package.Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pcneo.face import run_handle

    monkeypatch.setattr(run_handle, "PAGE_MEMBERSHIPS", 1)
    ring.annotate(p="0.7")
    run = ring.run("0.7")
    before = {c.vertex: c.members for c in run}
    walk = iter(run)
    seen = [next(walk)]
    db.driver.execute_query("MATCH (a:Person {id: 5}), (b:Person {id: 8}) MERGE (a)-[:KNOWS]->(b)")
    ring.annotate(p="0.7")
    seen += walk
    assert {c.vertex: c.members for c in seen} == before == {c.vertex: c.members for c in run.version(1)}
    assert run.record.version == 2
    with pytest.raises(
        GraphChangedError, match=r"since version 1 of run ring@7/10, .* iterate over the version, or query"
    ):
        run.version(1).read()
    assert len(run.read()) == 6
    walk = iter(run.version(1))
    next(walk)
    assert run.version(1).remove() > 0
    with pytest.raises(GraphChangedError):
        list(walk)


TRIANGLES = [(1, 2), (1, 3), (2, 3), (3, 4), (4, 5), (4, 6), (5, 6)]
MOVES = """
    MATCH (:Person {id: 6})-[r:KNOWS]-() DELETE r
    WITH count(*) AS gone
    MATCH (a:Person {id: 1}), (b:Person) WHERE b.id IN [4, 5] CREATE (a)-[:KNOWS]->(b)
    """
"""As many connections as before, and none of them between members of the cohesion of 1, which has more neighbours."""


def test_a_cohesion_that_the_graph_has_left_behind_is_not_called_the_smallest(db: package.Db) -> None:
    db.load(TRIANGLES, node_label="Person", relationship_type="KNOWS", key="id")
    triangles = db.graph("triangles", **PERSONS)
    triangles.annotate(p="0.5")
    run = triangles.run("0.5")
    assert repr(run[1]) == (
        "Cohesion of 1: 2 members, 1 connection, density 1, p=1/2, search smallest; no smaller one exists"
    )
    (from_stream,) = triangles.stream(p="0.5", vertices=[1])
    db.driver.execute_query(MOVES)
    changed = "The graph has changed since this run, and this is no longer a p-cohesion: annotate it again"
    assert repr(run[1]).endswith(f", search smallest; t{changed[1:]}")
    assert (run[1].proven, run[1].best, run[1].around.holds) == (False, False, False)
    assert run[1].caption().endswith(f"{changed}.")
    assert " ".join(run[1].draw().get_suptitle().split()).endswith(changed)  # type: ignore[union-attr]
    run[1].draw("1.html")
    assert changed in Path("1.html").read_text()
    assert repr(from_stream).endswith("search smallest; no smaller one exists")  # nothing is looked up for a repr
    assert not from_stream.around.holds
    assert repr(from_stream).endswith("; the graph has changed since it was found, and it is no longer a p-cohesion")
    triangles.annotate(p="0.5")
    assert repr(run[1]).endswith("search smallest; no smaller one exists")
    assert repr(run.version(1)[1]).endswith("since version 1 of this run, and this is no longer a p-cohesion")


def test_a_graph_that_is_known_to_have_changed_is_told_of_with_each_cohesion(ring: package.GraphHandle) -> None:
    ring.annotate(p="0.7")
    run = ring.run("0.7")
    assert repr(run.head(1)[0]).endswith("search smallest; no smaller one exists")
    assert not run.moved
    ring.db.driver.execute_query("CREATE (:Person {id: 20})-[:KNOWS]->(:Person {id: 21})")
    changed = "search smallest; the graph has changed since this run: annotate it again"
    assert run.moved
    assert ring.runs().to_pandas()["moved"].tolist() == [True]
    assert repr(run[5]).endswith(changed)  # which is a p-cohesion still; a smaller one was not looked for
    (first,) = run.head(1)
    assert repr(first).endswith(changed)
    assert repr(first).endswith(changed), first.around


def test_what_a_run_yields_looks_around_when_asked_and_what_is_read_by_key_has(ring: package.GraphHandle) -> None:
    ring.annotate(p="0.7")
    run = ring.run("0.7")
    for cohesion in run:
        assert (cohesion, cohesion.connections, cohesion.hops) == (
            run[cohesion.vertex],
            run[cohesion.vertex].connections,
            run[cohesion.vertex].hops,
        )
    assert pickle.loads(pickle.dumps(run[7])).connections == run[7].connections  # noqa: S301
    assert {c.vertex: c.members for c in run.read()} == {c.vertex: c.members for c in run}
    assert run.to_pandas().shape == (6, 7)


def test_keys_that_someone_has_changed_end_in_an_error_that_names_them_and_differences_are_still_listed(
    ring: package.GraphHandle,
) -> None:
    ring.annotate(p="0.7")
    ring.db.driver.execute_query("MATCH (a:Person {id: 5}), (b:Person {id: 7}) CREATE (a)-[:KNOWS]->(b)")
    ring.annotate(p="0.7")
    run = ring.run("0.7")
    assert repr(run.history()) == "2 versions: 1, 2"
    looks: list[Callable[[], object]] = [lambda: run[8], lambda: list(run), run.to_pandas]
    changes: list[tuple[Any, type[Exception], str, list[Any]]] = [
        ("six", KeyPropertyError, "'six'", [5, 7, 8, 9, 10, "six"]),
        ([6], KeyPropertyError, r"\[6\]", [5, 7, 8, 9, 10]),
        (None, GraphChangedError, "lost its key", [5, 7, 8, 9, 10]),
    ]
    ring.db.driver.execute_query("MATCH (v:Person {id: 6}) SET v:Changed")
    for key, error, words, keys in changes:
        ring.db.driver.execute_query("MATCH (v:Changed) SET v.id = $key", key=key)
        for look in looks:
            with pytest.raises(error, match=words):
                look()
        table = run.diff(1, 2).to_pandas()
        assert table["vertex"].tolist() == keys
        assert {*zip(table["edges_before"], table["edges_after"], strict=True)} == {(6, 7)}


def test_what_holds_a_connection_is_not_pickled(db: package.Db, ring: package.GraphHandle) -> None:
    ring.annotate(p="0.7")
    for held in (db, ring, ring.run("0.7"), ring.budget):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(held)


def test_a_networkx_graph_brings_its_scalar_attributes(db: package.Db) -> None:
    graph = nx.Graph()
    graph.add_node("Ann", age=7, id="dropped", friends=["no scalar"])
    graph.add_node("Alone")
    graph.add_edge("Bob", "Ann", since=1999)
    loaded = db.load(graph, node_label="P", relationship_type="R", key="id")
    assert (loaded.nodes_created, loaded.relationships_created) == (3, 1)
    assert loaded.attributes_dropped == {"friends": 1}
    records, _, _ = db.driver.execute_query(
        "MATCH (a:P) OPTIONAL MATCH (a)-[r:R]->(b) RETURN a.id, a.age, r.since, b.id ORDER BY a.id"
    )
    assert [list(record) for record in records] == [
        ["Alone", None, None, None],
        ["Ann", 7, 1999, "Bob"],
        ["Bob"] + [None] * 3,
    ]


def test_a_name_that_is_near_is_meant_and_a_mechanism_is_where_it_belongs(
    db: package.Db, ring: package.GraphHandle
) -> None:
    ring.annotate(p="0.7")
    with pytest.raises(NotFoundError, match="Did you mean ring"):
        db.graph("rnig")
    assert db.graph() == db.graph("ring")
    with pytest.raises(ParameterError, match="rests on the groups of a run"):
        ring.release(package.Critical(epsilon=1), to="a.csv")
    with pytest.raises(ParameterError, match="does not rest on a run"):
        ring.run("0.7").release(package.Edge(epsilon=1), to="a.csv")
    with pytest.raises(TypeError, match="mechanism is a value such as"):
        ring.release("edge", to="a.csv")  # pyright: ignore[reportArgumentType]
    dry = ring.release(package.Edge(epsilon=1), to="a.csv", dry_run=True)
    assert (dry.files, ring.budget.spent.epsilon) == ((), 0)
    assert not Path("a.csv").exists()


def test_connect_says_what_was_expected(db: package.Db) -> None:
    with pytest.raises(TypeError, match="An open driver is given as driver="):
        package.connect(db.driver)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="auth is a pair of texts"):
        package.connect("bolt://localhost", auth="neo4j")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ParameterError, match="An address needs auth"):
        package.connect("bolt://localhost")
    with pytest.raises(ConnectionFailedError, match=r"^uri is 'localhost:7687'\. It must look like"):
        package.connect("localhost:7687", auth=("neo4j", "x"))
    with pytest.raises(
        ConnectionFailedError, match=r"^uri contains a user name or password\. Take it out and give auth"
    ):
        package.connect("bolt://neo4j:x@localhost", auth=("neo4j", "x"))


def test_connect_without_a_server_says_how_to_start_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NEO4J_URI", raising=False)
    monkeypatch.setattr("pcneo.server.servers.find_running", lambda: None)
    with pytest.raises(
        ConnectionFailedError, match=r"`pcneo server start` starts one, as pcneo\.start_server\(\) does"
    ):
        package.connect()


def test_a_user_without_an_address_is_used_with_the_address_that_is_found(
    db: package.Db, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = (server.username, server.password)
    monkeypatch.delenv("NEO4J_PASSWORD")
    with package.connect(auth=right, database=db.name) as other:
        assert other.name == db.name
    monkeypatch.setenv("NEO4J_URI", " ")  # as unset, like on the command line
    monkeypatch.setattr("pcneo.server.servers.find_running", lambda: server)
    with package.connect(auth=right), package.connect():
        pass
    with pytest.raises(ConnectionFailedError, match="refused the user name or password"):
        package.connect(auth=("nobody", "wrong"))  # not the tests' own user, whom the server would lock out


def test_a_first_line_that_may_be_a_header_is_warned_of(db: package.Db, caplog: pytest.LogCaptureFixture) -> None:
    Path("people.csv").write_text("person_a,person_b\nAnn,Bob\nBob,Cem\n")
    db.load("people.csv", node_label="P", relationship_type="R", key="id")
    says = "Line 1 (person_a, person_b) shares no key with any other line and was loaded as data. If it is a header,"
    (warning,) = [record for record in caplog.records if record.name == "pcneo" and record.levelname == "WARNING"]
    assert warning.getMessage().startswith(says)
    caplog.clear()
    db.load([("Ann", "Dan")], node_label="P", relationship_type="R", key="id")
    assert "1 of the 2 vertices were there already, as :P nodes with the same id" in caplog.text


def test_a_limit_of_no_bytes_is_a_limit(db: package.Db) -> None:
    Path("people.csv").write_text("Ann,Bob\n")
    with pytest.raises(FileFormatError, match="the most that is read"):
        db.load("people.csv", node_label="P", relationship_type="R", key="id", max_bytes=0)


def test_all_runs_are_removed_by_a_word_alone(ring: package.GraphHandle, db: package.Db) -> None:
    ring.annotate(p=["0.3", "0.7"])
    with pytest.raises(ParameterError, match=r"This removes every run: give all=True .* db\.run\(\.\.\.\)\.remove\(\)"):
        db.clean()
    assert db.clean(dry_run=True).runs == db.clean(all=True, dry_run=True).runs == ("ring@3/10", "ring@7/10")
    assert len(db.runs()) == 2
    assert db.clean(all=True).runs == ("ring@3/10", "ring@7/10")
    assert len(db.runs()) == 0


def test_a_handle_of_a_run_that_is_gone_means_no_other_run(ring: package.GraphHandle, db: package.Db) -> None:
    ring.annotate(p=["1/3", "1/30"])
    ring.annotate(p="1/3", vertices=[5])
    ring.budget.set(epsilon=6, delta="1e-4")
    held, listed = ring.run("1/3"), ring.runs()
    fixed, shown, walked = held.version(held.record.version), held[5], held.head(1)[0]
    assert held.remove() == 6
    left = ["ring@1/30", "ring@1/3:vertices"]
    assert sorted(run.id for run in db.runs()) == sorted(left)
    asks: list[Callable[[package.Run], object]] = [
        lambda run: run.record, lambda run: run.moved, lambda run: run.version(1), lambda run: run.history(),
        lambda run: run.diff(1, 1), lambda run: run.check(), len, lambda run: 5 in run, lambda run: run[5],
        lambda run: run.get(5), list, lambda run: run.read(), lambda run: run.query("critical_connections", id=5),
        lambda run: run.export("5.json", vertex=5), lambda run: run.export("all.json"), lambda run: run.remove(),
        lambda run: run.release(package.Critical(k=3, epsilon=1), to="a.csv"), lambda run: run.audit(epsilon=1),
    ]  # fmt: skip
    for run in (held, fixed):
        assert repr(run) == "Run ring@1/3, which is gone"
        for ask in asks:
            with pytest.raises(NotFoundError, match=r"^Run ring@1/3 is gone\.$"):
                ask(run)
    with pytest.raises(NotFoundError, match=r"^Run ring@1/3 is gone\.$"):
        shown.draw("5.html")
    assert walked.connections  # the graph is there still
    assert sorted(run.id for run in db.runs()) == sorted(left)
    assert ring.budget.spent.epsilon == 0
    assert sorted(listed.to_pandas()["run"]) == sorted(["ring@1/3", *left])
    assert ring.run("ring@1/3:").id == "ring@1/3:vertices"  # what a person types may be a beginning


def test_an_earlier_version_is_compared_with_the_counts_that_it_was_made_from(
    ring: package.GraphHandle, db: package.Db
) -> None:
    ring.annotate(p="0.7")
    db.driver.execute_query("MATCH (a:Person {id: 5}), (b:Person {id: 8}) CREATE (a)-[:KNOWS]->(b)")
    ring.annotate(p="0.7")
    run = ring.run("0.7")
    earlier = run.version(1)
    assert (run.moved, earlier.moved) == (False, True)
    assert [stored._stored.relationships_more for stored in (run, earlier)] == [0, 1]
    changed = "the graph has changed since version 1 of this run"
    assert all(changed in repr(cohesion) for cohesion in earlier)
    earlier[6].draw("6.html")  # which has those of its members, of this version too
    assert Path("6.html").read_text().count(changed.capitalize()) > 1


def test_a_table_without_rows_has_its_columns(ring: package.GraphHandle, db: package.Db) -> None:
    ring.annotate(p="0.7")
    run = ring.run("0.7")
    assert list(run.diff(1, 1).to_pandas()["came"]) == []
    stream = ring.stream(p="0.7")
    full = list(ring.stream(p="0.7").to_pandas())
    list(stream)
    assert list(stream.to_pandas()) == full
    columns = {"runs": list(db.runs().to_pandas()), "history": list(run.history().to_pandas())}
    assert columns["runs"] == [*columns["history"], "moved"]
    run.remove()
    assert list(db.runs().to_pandas()) == columns["runs"]


def test_what_outlives_its_connection_says_so(server: Any, ring: package.GraphHandle, empty_database: str) -> None:
    ring.annotate(p="0.7")
    with package.connect(database=empty_database) as db:
        graph, run, runs, budget = db.graph("ring"), db.run("ring@7/10"), db.runs(), db.graph("ring").budget
        (cohesion, *_) = run
    assert repr(run) == "Run ring@7/10 (its connection is closed)"
    assert repr(budget) == "Budget of 'ring' (its connection is closed)"
    assert (repr(runs), repr(graph)) == ("1 run: ring@7/10", "Graph 'ring': Person/KNOWS/id")
    assert repr(cohesion).startswith("Cohesion of 5")
    assert cohesion._repr_svg_() is None
    for use in (db.runs, lambda: run[5], lambda: graph.annotate(p="0.7"), lambda: cohesion.connections, run.remove):
        with pytest.raises(ConnectionFailedError, match=r"This connection is closed: its with block has ended"):
            use()


@pytest.mark.parametrize("key", ["name", "query", "self"])
def test_a_key_property_of_any_name_is_a_parameter_of_a_query(db: package.Db, key: str) -> None:
    db.load([("Ann", "Bob"), ("Bob", "Cem")], node_label="P", relationship_type="R", key=key)
    graph = db.graph("g", node_labels="P", relationship_types="R", key=key)
    graph.annotate(p="0.5")
    assert len(graph.run().query("critical_connections", **{key: "Ann"}).rows) == 1


def test_a_run_is_named_by_p_or_by_its_id_and_all_that_fit_are_told(ring: package.GraphHandle) -> None:
    ring.annotate(p="0.3")
    ring.annotate(p=["0.5", "0.7"])
    assert ring.run("ring@3/10").id == ring.run("ring@0.3").id == ring.run(run="ring@3/10").id == "ring@3/10"
    with pytest.raises(ParameterError, match=r"fit: ring@1/2, ring@3/10, ring@7/10\. Give the id of one"):
        ring.run()


def test_a_graph_without_a_name_is_the_one_that_fits(db: package.Db, ring: package.GraphHandle) -> None:
    ring.annotate(p="0.7")
    assert db.graph(**PERSONS).budget.graph == db.graph().budget.graph == "ring"
    db.load([(1, 2), (2, 3), (3, 1)], node_label="Kin", relationship_type="KNOWS", key="id")
    db.graph("kin", **{**PERSONS, "node_labels": "Kin"}).annotate(p="0.7")
    assert db.graph(**PERSONS).budget.graph == "ring"
    with pytest.raises(ParameterError, match=r"Which graph\? There are kin, ring\."):
        _ = db.graph().budget
    with pytest.raises(ParameterError, match=r"Which graph\? There are kin, ring\."):
        db.graph(key="id").runs()
    assert db.graph(node_labels="Kin").budget.graph == "kin"
    others = {**PERSONS, "relationship_types": "MEETS"}
    for use in (lambda: db.graph(**others).budget, lambda: db.graph(**others).run(), lambda: db.graph(**others).runs()):
        with pytest.raises(NotFoundError, match="There is no graph 'Person/MEETS/id' yet"):
            use()
    db.graph("kin").run().remove()
    with pytest.raises(NotFoundError, match="There is no graph 'foes' yet"):
        _ = db.graph("foes", **{**PERSONS, "node_labels": "Foe"}).budget


def test_groups_of_answers_are_stored_from_python(ring: package.GraphHandle) -> None:
    out = ring.release(package.Respond(epsilon=8), to="a.csv", answers="publish", budget_epsilon=16, anyway=True)
    assert out.answers is not None
    (run,) = ring.annotate_answers(out.answers, "0.5").written.runs
    assert run.run.startswith("ring@1/2:answers:")


def test_counts_that_are_mostly_noise_are_warned_of_in_the_log_and_by_the_file(
    ring: package.GraphHandle, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ring has no triangles. With one in 360 sets of coins the mean of the noise is above its standard error."""
    coins = random.Random(1)
    monkeypatch.setattr(ReleaseNoise, "_bytes", lambda _self, size: coins.randbytes(size))
    ring.release(package.Respond(epsilon="0.1"), to="a.csv", budget_epsilon=8, anyway=True)
    (warned,) = [record.getMessage() for record in caplog.records if "mostly noise: their" in record.getMessage()]
    assert warned.startswith("a.csv: These counts are mostly noise: their standard error is about ")
    assert "These counts are mostly noise" in repr(package.read_release("a.csv"))


def test_what_files_on_one_bound_promise_is_stated_for_all_of_them(ring: package.GraphHandle) -> None:
    out = ring.release(package.Total(k=(3, 4), epsilon=1), to="a.csv", budget_epsilon=8, anyway=True)
    assert out.epsilon == 1
    for words in (out.plain_words, *(public.record["inPlainWords"] for public in out.public)):
        assert "by a factor of at most 2.72, except" in words
        assert words.endswith("for all files that rest on one bound of common neighbours, read together.")


def test_several_p_are_any_iterable_and_one_is_one(ring: package.GraphHandle) -> None:
    assert ring.stats(p=np.array([0.3, 0.5])).to_pandas()["p"].tolist() == ["3/10", "1/2"]  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"write '0\.3'\."):
        ring.stats(p=np.arange(0.1, 0.5, 0.1))  # type: ignore[arg-type]


TWO_VERSIONS = (
    "diff compares two versions of one run, such as run.diff(1, 2); to compare two runs, compare their data frames "
    "(to_pandas)"
)


def test_an_argument_of_another_type_is_answered_with_a_sentence(ring: package.GraphHandle, db: package.Db) -> None:
    ring.annotate(p="0.7")
    run: Any = ring.run("0.7")
    anything: Any = package
    names: dict[str, Any] = {"node_label": "P", "relationship_type": "R", "key": "id"}
    for use, says in (
        (lambda: db.load([(1, 2)], **{**names, "node_label": 3}), "node_label must be a name, not 3, which is int"),
        (lambda: db.graph(5), "name must be the name of a graph, not 5, which is int"),  # type: ignore[arg-type]
        (lambda: db.graph(node_labels=3), "a label or type must be text, not 3, which is int"),  # type: ignore[arg-type]
        (lambda: db.run(5), "id must be the id of a run, such as 'friends@3/10', not 5, which is int"),  # type: ignore[arg-type]
        (lambda: run.head("3"), "count must be a whole number, not '3', which is str"),
        (lambda: run.version("1"), "number must be a whole number, not '1', which is str"),
        (lambda: run.diff("1", "2"), "before must be a whole number, not '1', which is str"),
        (lambda: run.diff(run), TWO_VERSIONS),
        (lambda: run.diff(run, run), TWO_VERSIONS),
        (lambda: run.diff(1), TWO_VERSIONS),
        (lambda: run.diff(), TWO_VERSIONS),
        (
            lambda: ring.steadiness("0.7", orders=anything),
            f"orders must be a whole number, not {anything!r}, which is module",
        ),
        (lambda: ring.to_parquet("p", "0.7", part=("2", 5)), "part must be a whole number, not '2', which is str"),  # type: ignore[arg-type]
        (lambda: anything.start_server(5), "data is the folder of a server's data, not 5, which is int"),
        (lambda: anything.stop_server(5), "data is the folder of a server's data, not 5, which is int"),
    ):
        with pytest.raises(TypeError, match=f"^{re.escape(says)}$"):
            use()
    with pytest.raises(ParameterError, match=r"^concurrency must be a whole number of 1 or more, not '2'\.$"):
        ring.annotate(p="0.7", concurrency="2")  # type: ignore[arg-type]
    assert len(run.head(np.int64(3))) == 3


def test_numbers_are_numpys_too_and_of_64_bits(ring: package.GraphHandle) -> None:
    ring.annotate(p="0.7")
    run = ring.run("0.7")
    assert run.query("critical_connections", id=np.int64(7)).rows == run.query("critical_connections", id=7).rows != []
    assert len(run.query("densest_cohesions", limit=np.int64(3)).rows) == 3
    for query, given in (("critical_connections", {"id": 2**63}), ("densest_cohesions", {"limit": 10**20})):
        with pytest.raises(ParameterError, match="does not fit in 64 bits"):
            run.query(query, **given)
    with pytest.raises(NotFoundError, match=f"keeps no earlier version {10**20}"):
        versions.let_go(run._db, run=run.id, version=10**20)


def test_steadiness_and_streams_need_no_file(ring: package.GraphHandle) -> None:
    steady = ring.steadiness("0.7", orders=1)
    assert (steady.files, list(steady.summaries)) == ((), ["7/10"])
    stream = ring.stream("0.7")
    assert repr(stream) == "Cohesions as they are found, to be read once"
    assert len(list(stream)) == 6


def test_several_runs_have_no_single_one(ring: package.GraphHandle) -> None:
    result = ring.annotate(p=["0.5", "0.7"])
    with pytest.raises(ParameterError, match=r"^There are 2 runs: take one of \.runs\.$"):
        _ = result.run


def test_an_earlier_version_is_not_audited_by_the_current_groups(db: package.Db, ring: package.GraphHandle) -> None:
    ring.annotate(p="0.7")
    db.driver.execute_query("MATCH (a:Person {id: 5}), (b:Person {id: 8}) CREATE (a)-[:KNOWS]->(b)")
    ring.annotate(p="0.7")
    with pytest.raises(ParameterError, match="works only on the current version"):
        ring.run("0.7").version(1).audit(epsilon=1)


def test_files_of_another_graph_are_refused_by_a_handle_that_names_its_own(
    db: package.Db, ring: package.GraphHandle
) -> None:
    ring.annotate(p="0.7")
    ring.to_parquet("ring.parquet", p="0.7")
    robots = db.graph("robots", node_labels="Robot", relationship_types="KNOWS", key="id")
    with pytest.raises(ParameterError, match=r"of the graph Person/KNOWS/id, not of one whose node_labels is"):
        robots.load_cohesions("ring.parquet")
    assert [graph.name for graph in db.graphs()] == ["ring"]
    assert ring.load_cohesions("ring.parquet").run.run == "ring@7/10"


def test_what_is_left_is_unknown_while_a_record_is_damaged(db: package.Db, ring: package.GraphHandle) -> None:
    ring.annotate(p="0.7")
    ring.budget.set(epsilon=6)
    ring.budget.set(epsilon=7)
    assert ring.budget.left is not None
    db.driver.execute_query("MATCH (t:PCohesionBudget) WITH t ORDER BY t.at LIMIT 1 SET t.epsilon = 'much'")
    assert ring.budget.left is None
    assert repr(ring.budget).endswith(", 1 damaged record")


def test_a_mean_degree_is_stated_in_python_too(ring: package.GraphHandle) -> None:
    stated = ring.release(package.Respond(epsilon=2), to="counts.csv", mean_degree=3, anyway=True, dry_run=True)
    assert "at a mean degree of 3" in " ".join(stated.beforehand)


def test_a_database_of_your_own_driver(
    server: Any, ring: package.GraphHandle, neo4j_driver: Any, database: str
) -> None:
    ring.annotate(p="0.7")
    with package.connect(driver=neo4j_driver, database=database) as db:
        assert Database(neo4j_driver, database).versions() == {db.runs()[0].id: 1}
    neo4j_driver.verify_connectivity()  # it stays open
