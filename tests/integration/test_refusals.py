"""Names that hold Cypher, keys that cannot be keys, invalid choices, missing rights: each refused as specified."""

from __future__ import annotations

import re
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, cast

import neo4j
import pytest
from graphs import Database, cycle
from lengths import usual_or_thorough

from pcneo import annotate
from pcneo.basics.config import ConnectionSettings
from pcneo.basics.selection import Selection
from pcneo.errors import (
    ConnectionFailedError,
    GraphChangedError,
    KeyPropertyError,
    NotFoundError,
    ParameterError,
    PcneoError,
    RightsError,
    SchemaError,
)
from pcneo.store import chosen_graph, reading, server_version
from pcneo.store.connection import connect, connect_to
from pcneo.store.server_version import version_number
from pcneo.stored import cleaning, runs, verifying

PERSONS: dict[str, Any] = {"selection": Selection("Person", "KNOWS", "id")}

NAMES = [
    '`backticks` and ``two``, O\'Brien "quoted",  two spaces\tand a tab',
    "x` {id: 1}) DETACH DELETE v RETURN 1 //",
    "\\u0060) DETACH DELETE v // back\\slash \\",
    "1st Größe 大 🦑 e\u0301 $keys",
    "Person) DETACH DELETE (n) //",
    "line\nbreak",
]


no_schema_of_ours = pytest.mark.schema("users")
"""A refusal adds none. Making it anew after each test that writes would take longer than these tests do."""


def write(db: Database, p=0.6, **options) -> annotate.WriteResult:
    return annotate.write(db.store, p=p, **{**PERSONS, **options})


def stream(db: Database, p=0.6, **options) -> list:
    return list(annotate.stream(db.store, p=p, **{**PERSONS, **options}))


def refused(kind: type[PcneoError], action: Callable[[], object], *says: str, db: Database) -> PcneoError:
    """The error that an action raises; it is of exactly this kind, says this much, and nothing was written."""
    before = db.everything()
    with pytest.raises(kind) as caught:
        action()
    assert type(caught.value) is kind
    for words in says:
        assert words in str(caught.value)
    assert db.everything() == before
    return caught.value


# --- Names


@pytest.mark.parametrize("name", usual_or_thorough(NAMES[:3], NAMES), ids=ascii)
def test_a_name_with_cypher_in_it_is_handled_as_data(db, name):
    db.put(cycle(5), label=name, type_=name, key=name, index=False)
    db.put([(1, 2), (2, 3)], label="Bystander", type_="KNOWS")
    db.run("CREATE (:Decoy {id: 1, name: 'x'})")
    own = db.users_own()
    names: dict[str, Any] = {"selection": Selection([name], [name], name)}
    with pytest.raises(SchemaError) as caught:
        stream(db, **names)
    printed = str(caught.value).split(":\n", 1)[1]
    db.run(printed.strip().removesuffix(";"))
    db.run("CALL db.awaitIndexes(60)")
    assert [(c.vertex, c.members) for c in stream(db, **names)] == [(v, (0, 1, 2, 3, 4)) for v in range(5)]
    assert [c.members for c in stream(db, vertices=[3], **names)] == [(0, 1, 2, 3, 4)]
    (whole,) = write(db, graph=name, **names).runs
    (few,) = write(db, graph=name, vertices=[2], **names).runs
    assert db.members(whole.run, name) == {v: {0, 1, 2, 3, 4} for v in range(5)}
    assert db.members(few.run, name) == {2: {0, 1, 2, 3, 4}}
    assert [stored.run.graph for stored in runs.list_runs(db.store)] == [name, name]
    assert all(verified.memberships_same for verified in db.verified())
    assert len(cleaning.clean(db.store).runs) == 2
    assert db.users_own() == own


def test_the_index_is_created_where_it_is_asked_for(db):
    db.put(cycle(5), index=False)
    db.put(cycle(5), label="Other name", index=False, key="other")
    db.run("MATCH (v:`Other name`) SET v.id = v.other + 10")
    result = write(db, selection=Selection(["Other name", "Person"], "KNOWS", "id"), create_index=True)
    assert result.vertices == 10
    assert sorted(
        db.run(
            "SHOW INDEXES YIELD labelsOrTypes, properties WHERE properties = ['id'] "
            "AND NOT labelsOrTypes[0] STARTS WITH 'PCohesion' "
            "RETURN labelsOrTypes"
        )
    ) == [[["Other name"]], [["Person"]]]


def test_every_label_without_an_index_gets_a_statement_of_its_own(db):
    db.put([(1, 2)], label="A", index=False)
    db.put([(3, 4)], label="B", index=False)
    db.put([(5, 6)], label="C")
    three = Selection(["A", "B", "C"], "KNOWS", "id")
    error = refused(SchemaError, lambda: stream(db, selection=three), "`A`", "`B`", db=db)
    statements: Any = error.data["statements"]
    assert len(statements) == 2
    assert "`C`" not in str(error)
    for statement in str(error).split(":\n", 1)[1].split(";")[:2]:
        db.run(statement)
    db.run("CALL db.awaitIndexes(60)")
    assert len(stream(db, selection=three)) == 6


@pytest.mark.parametrize("index", ["TEXT INDEX FOR (v:Person) ON (v.id)", "INDEX FOR (v:Person) ON (v.id, v.name)"])
def test_an_index_that_finds_no_key_is_none(db, index):
    db.put(cycle(5), index=False)
    db.run(f"CREATE {index}")
    db.run("CALL db.awaitIndexes(60)")
    refused(SchemaError, lambda: stream(db), "CREATE INDEX", db=db)


@no_schema_of_ours
@pytest.mark.parametrize("mode", [annotate.stream, annotate.stats, annotate.estimate])
def test_a_mode_that_writes_nothing_creates_no_index_either(db, mode):
    db.put(cycle(5), index=False)
    refused(
        ParameterError,
        lambda: mode(db.store, p=0.3, create_index=True, **PERSONS),
        "writes nothing, not even an index",
        db=db,
    )


@no_schema_of_ours
def test_a_key_that_is_a_list_is_shown_by_its_node(db):
    db.put(cycle(5))
    db.run("CREATE (:Person {id: [1, 2]})")
    refused(
        KeyPropertyError, lambda: stream(db), "LIST<INTEGER NOT NULL> NOT NULL on the node with elementId 4:", db=db
    )


# --- Choices


def test_what_the_database_leaves_one_choice_of_is_chosen_and_said(db):
    db.put(cycle(5))
    result = annotate.write(db.store, p=0.6)
    assert result.graph == "Person/KNOWS/id"
    assert sorted(result.configuration["chosen"].values()) == ["KNOWS", "Person", "id"]
    again = annotate.write(db.store, p=0.6)  # our own labels, types and indexes are no choices
    assert again.configuration["chosen"] == result.configuration["chosen"]
    assert write(db).configuration["chosen"] == {}


def test_several_labels_types_or_keys_are_listed(db):
    db.put(cycle(5))
    db.put([("a", "b")], label="Place", type_="NEAR", key="name")
    db.index("Person", "number")
    for some, option, choices in (
        (Selection(relationship_types="KNOWS", key="id"), "--node-label", "'Person', 'Place'"),
        (Selection("Person", key="id"), "--relationship-type", "'KNOWS', 'NEAR'"),
        (Selection("Person", "KNOWS"), "--key", "'id', 'number'"),
    ):
        refused(
            ParameterError, lambda some=some: annotate.stats(db.store, p=0.6, selection=some), option, choices, db=db
        )


def test_an_empty_database_leaves_no_choice(db):
    refused(ParameterError, lambda: annotate.stats(db.store, p=0.6), "--node-label", "none", db=db)


def test_labels_without_a_key_in_common_leave_no_choice(db):
    db.put([(1, 2)], label="A", key="a")
    db.put([(3, 4)], label="B", key="b")
    named: dict[str, Any] = {"selection": Selection(["A", "B"], "KNOWS")}
    refused(ParameterError, lambda: annotate.stats(db.store, p=0.6, **named), "--key", "none", db=db)


@pytest.mark.parametrize(
    ("wrong", "value", "there"),
    [
        (Selection("Persom", "KNOWS", "id"), "Persom", "'Person'"),
        (Selection(["Person", "PCohesion"], "KNOWS", "id"), "PCohesion", "'Person'"),
        (Selection([""], "KNOWS", "id"), "", "'Person'"),
        (Selection("Person", "KNOW", "id"), "KNOW", "'KNOWS'"),
        (Selection("Person", "IN_COHESION", "id"), "IN_COHESION", "'KNOWS'"),
    ],
)
def test_a_label_or_type_that_is_not_the_users_is_refused_and_the_users_are_listed(db, wrong, value, there):
    db.put(cycle(5))
    write(db)
    refused(NotFoundError, lambda: stream(db, selection=wrong), repr(value), f"it has {there}.", db=db)


def test_a_label_that_no_node_carries_any_more_is_no_choice(db):
    db.put(cycle(5))
    db.run("CREATE (v:Gone) DELETE v")
    db.index("Gone")
    assert annotate.stats(db.store, p=0.6).configuration["nodeLabels"] == ["Person"]


# --- Keys


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        ("MATCH (v:Person {id: 3}) REMOVE v.id", ("1 of 5 nodes", "no 'id'")),
        ("MATCH (v:Person) WHERE v.id < 2 SET v.id = toString(v.id)", ("integers (nodes: 3,", "strings (nodes: 2,")),
        ("MATCH (v:Person {id: 3}) SET v.id = 3.5", ("1 of 5 nodes", "3.5", "--key")),
        ("MATCH (v:Person) SET v.id = toFloat(v.id)", ("5 of 5 nodes", "FLOAT")),
        ("MATCH (v:Person {id: 3}) SET v.id = true", ("1 of 5 nodes", "BOOLEAN")),
        ("MATCH (v:Person {id: 3}) SET v.id = [3]", ("1 of 5 nodes", "LIST")),
        ("MATCH (v:Person {id: 3}) SET v.id = date('2026-01-01')", ("1 of 5 nodes", "2026-01-01")),
        ("MATCH (v:Person {id: 3}) SET v.id = 4", ("1 value of 'id' is shared", "4. Choose")),
        ("CREATE (:Person {id: 4})", ("1 value of 'id' is shared", "4. Choose")),
    ],
)
def test_keys_that_are_missing_mixed_unusable_or_repeated_are_refused_with_the_number_and_an_example(db, spoil, says):
    db.put(cycle(5))
    write(db)
    db.run(spoil)
    refused(KeyPropertyError, lambda: write(db, p=0.3), *says, db=db)
    refused(KeyPropertyError, lambda: stream(db, p=0.3), *says, db=db)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("repeated", [2, 3, 4, 7])
def test_a_key_repeated_across_pages_or_over_a_whole_page_is_refused(db, repeated, monkeypatch):
    monkeypatch.setattr(reading, "PAGE", 3)
    db.put(cycle(5))
    db.run("UNWIND range(2, $n) AS i CREATE (:Person {id: 2})", n=repeated)
    refused(KeyPropertyError, lambda: stream(db), "shared by several vertices", "2", db=db)


def test_where_values_are_shared_a_property_is_named_that_a_constraint_makes_unique(db):
    db.put(cycle(5))
    db.run("MATCH (v:Person) SET v.number = v.id, v.name = CASE WHEN v.id < 2 THEN 'a' ELSE 'b' END")
    db.run("CREATE CONSTRAINT FOR (v:Person) REQUIRE v.number IS UNIQUE")
    db.run("CREATE INDEX FOR (v:Person) ON (v.name)")
    db.run("CALL db.awaitIndexes(60)")
    by_name = Selection("Person", "KNOWS", "name")
    error = refused(KeyPropertyError, lambda: stream(db, selection=by_name), db=db)
    assert re.fullmatch(
        "2 values of 'name' are shared by several vertices, for example '[ab]'. "
        "Choose a property that is unique, such as 'number'.",
        str(error),
    )


def test_an_estimate_needs_no_index_on_the_key_unless_the_graph_is_large(db, monkeypatch, caplog):
    db.put(cycle(5), index=False)
    caplog.set_level("INFO")
    estimated = annotate.estimate(db.store, p=0.6, **PERSONS)
    assert estimated.estimates["3/5"].memberships > 0
    assert "'id' has no index, which `annotate` needs to store anything; --create-index (in Python" in caplog.text
    caplog.clear()
    wrong = Selection("Person", "KNOWS", "idd")  # an index on it would not help
    refused(KeyPropertyError, lambda: annotate.estimate(db.store, p=0.6, selection=wrong), "have no 'idd'", db=db)
    assert "has no index" not in caplog.text
    monkeypatch.setattr(chosen_graph, "MOST_SCANNED", 4)
    refused(SchemaError, lambda: annotate.estimate(db.store, p=0.6, **PERSONS), "'id' has no index", db=db)


def test_a_repeated_key_is_noticed_when_single_vertices_are_read_too(db):
    db.put([*cycle(5), (0, 7), (1, 7)])
    db.run("CREATE (:Person {id: 7})")
    for vertices in ([7], [0]):
        refused(KeyPropertyError, lambda v=vertices: stream(db, vertices=v), "more than one vertex", "7", db=db)


def test_two_nodes_of_different_labels_with_one_key_are_refused(db):
    db.put(cycle(5))
    db.put([(4, 9)], label="Robot")
    for options, says in (({}, "shared by several vertices"), ({"vertices": [4]}, "more than one vertex")):
        action = lambda more=options: stream(db, selection=Selection(["Person", "Robot"], "KNOWS", "id"), **more)  # noqa: E731
        refused(KeyPropertyError, action, says, "4", db=db)


@no_schema_of_ours
def test_vertices_that_do_not_exist_are_named(db):
    db.put(cycle(5))
    for vertex in (99, "99", "x", -1, 2**63 - 1):
        refused(NotFoundError, lambda v=vertex: stream(db, vertices=[v]), "no vertex", str(vertex), db=db)
    error = refused(NotFoundError, lambda: stream(db, vertices=["x"]), db=db)
    assert str(error) == "There is no vertex 'x' in the graph; keys of this graph are integers."


def test_a_number_where_keys_are_text_is_told_so(db):
    db.put([("58", "59"), ("59", "60"), ("60", "58")])
    error = refused(NotFoundError, lambda: stream(db, vertices=[58]), db=db)
    assert str(error) == "There is no vertex 58 in the graph; keys of this graph are text."


@no_schema_of_ours
@pytest.mark.parametrize("vertex", [2**63, -(2**63) - 1, 1.0, 1.5, True, None, "\ud800", (1,)], ids=ascii)
def test_a_vertex_that_can_be_no_key_is_refused(db, vertex):
    db.put(cycle(5))
    before = db.everything()
    with pytest.raises((ParameterError, KeyPropertyError, NotFoundError)):
        stream(db, vertices=[vertex])
    assert db.everything() == before


@no_schema_of_ours
def test_no_vertices_at_all_are_refused(db):
    db.put(cycle(5))
    refused(ParameterError, lambda: write(db, vertices=[]), "vertex", db=db)


# --- A graph that changes while it is read


def at_the_end_of_reading(times: int, action: Callable[[int], object]) -> Callable[[str, int, int | None], None]:
    """A progress callback that acts at the end of the first reads, before the counts are taken again."""
    acted = []

    def progress(stage: str, done: int, total: int | None) -> None:
        if stage == "reading" and len(acted) < times:
            acted.append(done)
            action(len(acted))

    return progress


CHANGES = {
    "a vertex": "CREATE (:Person {id: 100 + $n})",
    "a vertex before all others, and an edge to it": "MATCH (v {id: 4}) CREATE (v)-[:KNOWS]->(:Person {id: -$n})",
    "an edge": "MATCH (a:Person {id: 0}), (b:Person {id: 2}) CREATE (a)-[:KNOWS]->(b)",
    "a vertex less": "MATCH (v:Person {id: $n}) DETACH DELETE v",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_graph_that_changes_during_the_read_is_read_once_more(db, change, monkeypatch):
    monkeypatch.setattr(reading, "PAGE", 2)
    db.put(cycle(5))
    stats = annotate.stats(
        db.store,
        p=0.6,
        progress=at_the_end_of_reading(1, lambda n: db.run(CHANGES[change], n=n)),
        **PERSONS,
    )
    assert [stats.node_count, stats.relationship_count] == [
        *db.run("MATCH (:Person) RETURN count(*)")[0],
        *db.run("MATCH ()-[:KNOWS]->() RETURN count(*)")[0],
    ]
    assert stats.vertices == stats.node_count


@pytest.mark.parametrize("change", CHANGES)
def test_a_graph_that_changes_twice_is_refused_with_the_counts(db, change):
    db.put(cycle(5))
    old = write(db, 0.3).runs[0].run
    progress = at_the_end_of_reading(2, lambda n: db.run(CHANGES[change], n=n))
    with pytest.raises(GraphChangedError, match=r"changed twice while it was being read.*Try again") as caught:
        write(db, 0.3, progress=progress)
    counts: Any = caught.value.data["counts"]
    assert len(set(counts)) == 3
    assert db.versions() == {old: 1}


def test_a_graph_that_grows_between_two_pages_is_read_once_more(db, monkeypatch):
    monkeypatch.setattr(reading, "PAGE", 500)
    db.put([(v, v + 1) for v in range(2_000)])
    grown = []

    def progress(stage: str, done: int, total: int | None) -> None:
        if stage == "reading" and done == 1_000 and not grown:
            grown.append(done)
            db.run("MATCH (v:Person {id: 1900}) CREATE (v)-[:KNOWS]->(:Person {id: -1})")

    cohesions = stream(db, progress=progress)
    assert grown
    assert cohesions[0].vertex == -1
    assert len(cohesions) == 2_002


# --- Rights


class ReadOnly:
    """A driver whose every session is one for reading, so that the server itself refuses any write."""

    def __init__(self, driver: neo4j.Driver) -> None:
        self._driver = driver

    def __getattr__(self, name: str):
        return getattr(self._driver, name)

    def session(self, **config) -> neo4j.Session:
        return self._driver.session(**{**config, "default_access_mode": neo4j.READ_ACCESS})


def test_a_reader_without_write_rights_can_stream_describe_and_estimate(db):
    db.put(cycle(5))
    stored = write(db).runs[0].run
    before = db.everything()
    reader = connect(driver=cast("neo4j.Driver", ReadOnly(db.driver)), database=db.name)
    choices: list[dict[str, Any]] = [{}, {"vertices": [1, 3]}]
    for options in choices:
        streamed = list(annotate.stream(reader, p=0.6, **PERSONS, **options))
        assert streamed == stream(db, **options)
        assert annotate.stats(reader, p=0.6, **PERSONS, **options).summaries["3/5"].cohesions == len(streamed)
    assert annotate.estimate(reader, p=0.6, **PERSONS).estimates["3/5"].memberships == 25
    assert [shown.run.id for shown in runs.list_runs(reader)] == [stored]
    assert verifying.verify(reader, run=stored).memberships_same
    assert db.everything() == before


def test_a_reader_without_write_rights_cannot_write_or_clean(db):
    db.put(cycle(5))
    write(db)
    reader = connect(driver=cast("neo4j.Driver", ReadOnly(db.driver)), database=db.name)
    refused(RightsError, lambda: annotate.write(reader, p=0.6, **PERSONS), "may not", db=db)
    refused(RightsError, lambda: cleaning.clean(reader), "may not", db=db)


# --- Arguments


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"p": 0}, "p"),
        ({"p": 1}, "p"),
        ({"p": 1.0}, "p"),
        ({"p": -0.3}, "p"),
        ({"p": float("nan")}, "p"),
        ({"p": "inf"}, "p"),
        ({"p": "0,3"}, "p"),
        ({"p": ""}, "p"),
        ({"p": "1/0"}, "p"),
        ({"p": True}, "p"),
        ({"p": []}, "p"),
        ({"p": [0.3, 3]}, "p"),
        ({"search": "densest"}, "search"),
        ({"concurrency": 0}, "concurrency"),
        ({"concurrency": -1}, "concurrency"),
    ],
    ids=repr,
)
def test_an_argument_out_of_range_is_refused_before_anything_is_read_or_written(db, options, name):
    db.put(cycle(5))
    error = refused(ParameterError, lambda: write(db, **options), db=db)
    assert error.data["name"] == name


def test_only_a_mode_that_stores_may_leave_p_to_the_standing_runs(db):
    db.put(cycle(5))
    nothing: Any = None
    for mode in (annotate.stats, annotate.estimate, lambda *args, **options: list(annotate.stream(*args, **options))):
        error = refused(ParameterError, lambda mode=mode: mode(db.store, p=nothing, **PERSONS), db=db)
        assert error.data["name"] == "p"


def test_an_estimate_of_single_vertices_is_refused(db):
    db.put(cycle(5))
    refused(
        ParameterError,
        lambda: annotate.estimate(db.store, p=0.6, vertices=[1], **PERSONS),
        "whole graph",
        db=db,
    )


def test_a_run_that_does_not_exist_cannot_be_verified(db):
    db.put(cycle(5))
    refused(NotFoundError, lambda: verifying.verify(db.store, run="nonsense"), "'nonsense'", db=db)
    refused(NotFoundError, lambda: runs.find_run(db.store), "pcneo annotate", db=db)


# --- Connection


def one_line(error: PcneoError) -> str:
    assert "\n" not in str(error)
    return str(error)


def settings(server, **other) -> ConnectionSettings:
    return ConnectionSettings(
        **{"uri": server.uri, "username": server.username, "password": server.password, "database": None, **other}
    )


def test_a_connection_is_made(server, database):
    with connect_to(settings(server)) as store:
        assert store.name == database
        assert version_number(store.version) >= (5, 23)


@pytest.mark.parametrize("wrong", [{"password": "wrong"}, {"username": "nobody"}])
def test_a_wrong_password_or_user_is_one_line_that_names_the_variables(server, wrong):
    with pytest.raises(ConnectionFailedError) as caught:
        connect_to(settings(server, **wrong))
    message = one_line(caught.value)
    assert "NEO4J_USERNAME" in message
    assert "NEO4J_PASSWORD" in message


@pytest.fixture
def user(neo4j_driver) -> Iterator[Callable[..., ConnectionSettings]]:
    """Make a database user of one's own, whose password is `first password`."""
    made = []

    def make(server, change: str) -> ConnectionSettings:
        made.append(f"pcneo{uuid.uuid4().hex}")
        neo4j_driver.execute_query(f"CREATE USER {made[-1]} SET PASSWORD 'first password' {change}", database_="system")
        return settings(server, username=made[-1], password="first password")  # noqa: S106  made here, gone after

    yield make
    for name in made:
        neo4j_driver.execute_query(f"DROP USER {name}", database_="system")


def test_too_many_wrong_passwords_are_said_as_such(server, user):
    forgetful = replace(user(server, "CHANGE NOT REQUIRED"), password="wrong")  # noqa: S106  not a password
    messages = []
    for _ in range(5):
        with pytest.raises(ConnectionFailedError) as caught:
            connect_to(forgetful)
        messages.append(one_line(caught.value))
    assert "Check NEO4J_USERNAME and NEO4J_PASSWORD" in messages[0]
    assert "wait, and try again" in messages[-1]


def test_a_password_that_must_be_changed_first_is_said_as_such(server, user):
    with pytest.raises(ConnectionFailedError) as caught, connect_to(user(server, "CHANGE REQUIRED")) as store:
        store.list_labels()
    assert "set a new one" in one_line(caught.value)


def test_an_address_where_nothing_answers_is_one_line(server):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(ConnectionFailedError) as caught:
            connect_to(settings(server, uri=f"bolt://127.0.0.1:{port}"))
    assert "NEO4J_URI" in one_line(caught.value)


def test_a_host_that_does_not_exist_is_one_line(server):
    with pytest.raises(ConnectionFailedError) as caught:
        connect_to(settings(server, uri="neo4j://no-such-host.invalid:7687"))
    assert "NEO4J_URI" in one_line(caught.value)


def test_a_server_that_is_no_neo4j_is_one_line(server):
    with socket.create_server(("127.0.0.1", 0)) as other:

        def answer() -> None:
            connection, _ = other.accept()
            with connection:
                connection.recv(100)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(ConnectionFailedError) as caught:
            connect_to(settings(server, uri=f"bolt://127.0.0.1:{other.getsockname()[1]}"))
        thread.join()
    assert "NEO4J_URI" in one_line(caught.value)


def test_an_encrypted_connection_that_the_server_does_not_offer_is_one_line(server):
    with pytest.raises(ConnectionFailedError) as caught:
        connect_to(settings(server, uri=server.uri.replace("bolt://", "bolt+s://").replace("neo4j://", "neo4j+s://")))
    assert "NEO4J_URI" in one_line(caught.value)


@pytest.mark.parametrize("by_driver", [True, False])
def test_an_unknown_database_is_one_line_that_names_it(server, neo4j_driver, by_driver):
    login = {"driver": neo4j_driver} if by_driver else {"uri": server.uri, "auth": (server.username, server.password)}
    with pytest.raises(ConnectionFailedError) as caught:
        connect(**login, database="nosuchdatabase")
    message = one_line(caught.value)
    assert "nosuchdatabase" in message
    assert "NEO4J_DATABASE" in message
    assert caught.value.data["code"] == "Neo.ClientError.Database.DatabaseNotFound"


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("http://127.0.0.1:7474", "Bolt"),
        ("https://127.0.0.1:7473", "neo4j+s://127.0.0.1:7687"),
        ("bolt://neo4j:secret@127.0.0.1", "NEO4J_PASSWORD"),
        ("127.0.0.1:7687", "neo4j://host:7687"),
    ],
)
def test_an_address_that_is_no_bolt_address_is_refused_before_anything_is_sent(server, uri, says):
    with pytest.raises(ConnectionFailedError) as caught:
        connect_to(settings(server, uri=uri))
    message = one_line(caught.value)
    assert says in message
    assert "secret" not in message


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2026.09.0", (2026, 9)),
        ("2025.12.1-SNAPSHOT", (2025, 12)),
        ("5.27-aura", (5, 27)),
        ("5.26.25", (5, 26)),
        ("5.3.0", (5, 3)),
        ("4.4.38", (4, 4)),
    ],
)
def test_versions_compare_as_numbers(text, number):
    assert version_number(text) == number


def test_a_version_that_is_none_is_refused():
    with pytest.raises(ConnectionFailedError, match="'aura'"):
        version_number("aura")


def test_a_server_older_than_the_oldest_that_works_is_refused_in_one_line(server, db, monkeypatch):
    monkeypatch.setattr(server_version, "OLDEST_SERVER", "9999.1")
    db.put(cycle(5))
    for ask in (lambda: connect_to(settings(server)), lambda: stream(db)):
        with pytest.raises(
            ConnectionFailedError, match=r"The server is Neo4j .*; pcneo needs 9999\.1 or later"
        ) as caught:
            ask()
        one_line(caught.value)
