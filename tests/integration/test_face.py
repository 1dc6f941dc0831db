"""What Python users hold: the examples of its docstrings on a real database, and what it promises beyond them."""

from __future__ import annotations

import doctest
import pickle
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from graphs import Database

import pcneo as package
from pcneo.cli.sample import copenhagen_friends_path
from pcneo.errors import ConnectionFailedError, GraphChangedError, NotFoundError, ParameterError

PERSONS: dict[str, Any] = {"node_labels": "Person", "relationship_types": "KNOWS", "key": "id"}
pytestmark = pytest.mark.schema("bare")
MODULES = ("budget_handle", "connecting", "graph_handle", "graph_modes", "listings", "release_handle", "run_handle")


@pytest.fixture
def db(server: Any, empty_database: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[package.Db]:
    """An empty database, as `connect()` finds it, in an empty folder."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    with package.connect(database=empty_database) as db:
        yield db


@pytest.fixture
def friends(db: package.Db) -> package.GraphHandle:
    """The sample, with a run at p = 0.3."""
    db.load(copenhagen_friends_path(), node_label="Person", relationship_type="KNOWS", key="id")
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
    loaded = db.load(copenhagen_friends_path(), node_label="Person", relationship_type="KNOWS", key="id")
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
        r"  p=1/10: about [\d,]+ memberships \([\d,]+ to [\d,]+\); search [\d.]+ s, writing [\d.]+ s, both [\d.]+ s; "
        r"[\d.]+ MB in the store",
        line,
    ), line
    result = friends.annotate(p="0.3")
    assert (result.run.version, len(result.runs), result.configuration["p"]) == (1, 1, ["3/10"])
    assert repr(result) == f"friends: {found}; runs friends@3/10 (version 1)"
    (updated,) = result.runs
    assert re.fullmatch(
        r"friends@3/10, version 1: \d+ cohesions, [\d,]+ memberships; \d+ came and 0 went", repr(updated)
    ), updated
    run = db.graph("friends").run("0.3")
    assert re.fullmatch(
        r"Run friends@3/10, version 1: 800 cohesions, [\d,]+ memberships, search smallest", repr(run.record)
    )
    assert repr(run.check()) == "Run friends@3/10, version 1: graph as read: same; memberships as written: same"
    assert repr(db.clean(dry_run=True)) == "Clean: 1 run (friends@3/10), 800 cohesions"
    first, *lines = repr(friends.audit(epsilon=1)).splitlines()
    assert first == "Audit of friends@3/10, for the owner alone: 800 vertices, 6,418 connections, k=3, ε=1"
    assert lines[0].startswith("  zeros: mean error of a count "), lines
    asked = repr(run.query("critical_connections", id=58))
    assert asked == "12 rows of a, b, relationships: run friends@3/10, version 1"
    run[58].draw("58.svg")
    assert Path("58.svg").read_bytes().startswith(b"<?xml")
    page = run[58].draw("58.html")
    assert page.opens == run[58].size  # type: ignore[union-attr] - every member has a cohesion
    assert Path("58.html").read_bytes().startswith(b"<!doctype html>")
    db.driver.execute_query("MATCH (a:Person {id: 124}), (b:Person {id: 165}) MERGE (a)-[:KNOWS]->(b)")
    friends.annotate(p="0.3")
    assert [version.version for version in run.history()] == [1, 2]
    assert len(run.diff(1, 2)) > 0
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
    assert (7 in run, 4 in run, 7.0 in run, True in run) == (True, False, False, False)
    for key in (True, 7.0, np.float32(7), None):
        with pytest.raises(TypeError, match="a key is an integer or text"):
            run[key]  # pyright: ignore[reportArgumentType]
    with pytest.raises(KeyError) as raised:
        run[4]
    assert str(raised.value) == "Graph 'ring' has no vertex 4: no :Person has it as its `id`."
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
    with pytest.raises(GraphChangedError, match=r"since version 1 of run ring@7/10, .* iterate the version, or ask"):
        run.version(1).read()
    assert len(run.read()) == 6
    walk = iter(run.version(1))
    next(walk)
    assert run.version(1).remove() > 0
    with pytest.raises(GraphChangedError):
        list(walk)


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
    with pytest.raises(ParameterError, match="rests on no run"):
        ring.run("0.7").release(package.Edge(epsilon=1), to="a.csv")
    with pytest.raises(TypeError, match="a mechanism is wanted"):
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
    with pytest.raises(ConnectionFailedError, match="It must look like"):
        package.connect("localhost", auth=("neo4j", "x"))


def test_a_user_without_an_address_is_used_with_the_address_that_is_found(
    db: package.Db, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = (server.username, server.password)
    monkeypatch.delenv("NEO4J_PASSWORD")
    with package.connect(auth=right, database=db.name) as other:
        assert other.name == db.name
    monkeypatch.delenv("NEO4J_URI")
    monkeypatch.setattr("pcneo.server.servers.find_running", lambda: server)
    with package.connect(auth=right), package.connect():
        pass
    with pytest.raises(ConnectionFailedError, match="refused the user name or password"):
        package.connect(auth=("nobody", "wrong"))  # not the tests' own user, whom the server would lock out


def test_a_database_of_your_own_driver(
    server: Any, ring: package.GraphHandle, neo4j_driver: Any, database: str
) -> None:
    ring.annotate(p="0.7")
    with package.connect(driver=neo4j_driver, database=database) as db:
        assert Database(neo4j_driver, database).versions() == {db.runs()[0].id: 1}
    neo4j_driver.verify_connectivity()  # it stays open
