from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import neo4j
import networkx as nx
import pytest
from graphs import own_text
from neo4j.exceptions import Neo4jError

from pcneo.annotate import load as load_module
from pcneo.annotate.load import LoadResult, doubts, load
from pcneo.errors import (
    FileFormatError,
    KeyPropertyError,
    ParameterError,
    SchemaError,
    WriteMismatchError,
)
from pcneo.face.first_steps import sample_path
from pcneo.store.connection import connect
from pcneo.store.failures import OUT_OF_MEMORY
from pcneo.store.statements import OWN_LABELS, OWN_TYPES
from pcneo.store.tokens import quote_identifier

LABEL, TYPE = "LoadedPerson", "LOADED_KNOWS"

pytestmark = pytest.mark.usefixtures("empty_database")


@pytest.fixture
def query(neo4j_driver: neo4j.Driver, database: str):
    def run(text: str, **parameters) -> list[list]:
        records = neo4j_driver.execute_query(own_text(text), parameters, database_=database).records
        return [record.values() for record in records]

    return run


@pytest.fixture
def put(neo4j_driver: neo4j.Driver, database: str, tmp_path: Path):
    """Load text, or a file, under LABEL, TYPE and `id` unless told otherwise."""

    def load_file(content: str | Path, name: str = "graph.txt", **names) -> LoadResult:
        path = tmp_path / name if isinstance(content, str) else content
        if isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        return load(
            connect(driver=neo4j_driver, database=database),
            path,
            **{"node_label": LABEL, "relationship_type": TYPE, "key": "id", **names},
        )

    return load_file


Query = Callable[..., list[list]]


def vertices(query: Query) -> list:
    return sorted((row[0] for row in query(f"MATCH (v:{LABEL}) RETURN properties(v)")), key=lambda values: values["id"])


def connections(query: Query) -> set[tuple]:
    rows = query(f"MATCH (a:{LABEL})-[r:{TYPE}]->(b:{LABEL}) RETURN a.id, b.id, r.weight")
    assert len(rows) == len(set(map(tuple, rows)))
    return set(map(tuple, rows))


def constraints(query: Query, label: str = LABEL) -> list:
    return query(
        "SHOW CONSTRAINTS YIELD type, labelsOrTypes, properties WHERE $label IN labelsOrTypes "
        "RETURN labelsOrTypes, properties",
        label=label,
    )


def test_each_pair_becomes_one_relationship_from_the_smaller_key(put, query):
    result = put("10 9\n9 10\n9 9\n2 10\n")
    assert vertices(query) == [{"id": 2}, {"id": 9}, {"id": 10}]
    assert connections(query) == {(9, 10, None), (2, 10, None)}
    assert (result.nodes_created, result.relationships_created) == (3, 2)
    assert (result.self_loops_dropped, result.parallel_dropped, result.lines) == (1, 1, 4)
    assert (result.node_count, result.relationship_count, result.key_kind) == (3, 2, "integer")


def test_string_keys_are_stored_as_strings_and_ordered_by_code_point(put, query):
    assert put("10 9\n9 007\n").key_kind == "string"
    assert connections(query) == {("10", "9", None), ("007", "9", None)}


def test_the_shipped_graph_loads_whole_and_again_adds_nothing(put, query):
    first = put(sample_path())
    assert (first.nodes_created, first.relationships_created, first.constraint_created) == (800, 6418, True)
    second = put(sample_path())
    assert (second.nodes_created, second.relationships_created, second.constraint_created) == (0, 0, False)
    assert (second.nodes_matched, second.relationships_matched) == (800, 6418)
    assert len(connections(query)) == 6418
    assert len(vertices(query)) == 800


@pytest.mark.parametrize(
    ("suffix", "write"), [("graphml", nx.write_graphml), ("gml", nx.write_gml), ("gexf", nx.write_gexf)]
)
def test_properties_of_vertices_and_relationships_are_stored(put, query, tmp_path, suffix, write):
    graph = nx.Graph()
    graph.add_node(0, name="Ann `'\"", age=7, height=1.5)
    graph.add_node(1, name="Bob")
    graph.add_node(2)
    graph.add_edge(1, 0, weight=2.5)
    path = tmp_path / f"graph.{suffix}"
    write(graph, path)
    result = put(path)
    stored = [{k: v for k, v in values.items() if k != "label"} for values in vertices(query)]
    assert stored == [{"id": 0, "name": "Ann `'\"", "age": 7, "height": 1.5}, {"id": 1, "name": "Bob"}, {"id": 2}]
    assert connections(query) == {(0, 1, 2.5)}
    assert (result.nodes_created, result.relationships_created) == (3, 1)


def test_an_attribute_named_as_the_key_is_the_key(put, query):
    result = put('graph [ node [ id 1 name "b" ] node [ id 2 name "a" ] ]', "g.gml", key="name")
    assert query(f"MATCH (v:{LABEL}) RETURN v.name, size(keys(v)) ORDER BY v.name") == [["a", 1], ["b", 1]]
    assert result.configuration["key"] == "name"


def test_vertices_and_relationships_that_are_there_keep_their_properties(put, query):
    query(
        f"CREATE (a:{LABEL}:Other {{id: 1, name: 'mine'}})<-[:{TYPE} {{weight: 7}}]-(:{LABEL} {{id: 2}})"
        f" CREATE (a)-[:{TYPE}X]->(:{LABEL}X {{id: 1}})"
    )
    result = put(
        'graph [ node [ id 1 name "theirs" ] node [ id 2 ] node [ id 3 ]'
        " edge [ source 1 target 2 weight 1 ] edge [ source 3 target 1 weight 4 ] ]",
        "g.gml",
    )
    assert vertices(query) == [{"id": 1, "name": "mine"}, {"id": 2}, {"id": 3}]
    assert connections(query) == {(2, 1, 7), (1, 3, 4)}
    assert (result.nodes_created, result.nodes_matched) == (1, 2)
    assert (result.relationships_created, result.relationships_matched) == (1, 1)
    (doubt,) = doubts(result)
    assert doubt.startswith(f"2 of the 3 vertices were there already, as :{LABEL} nodes with the same id,")
    assert query(f"MATCH (v:{LABEL} {{id: 1}}) UNWIND labels(v) AS label RETURN label ORDER BY label") == [
        [LABEL],
        ["Other"],
    ]


def test_several_relationships_between_a_pair_count_as_one_that_is_there(put, query):
    query(
        f"CREATE (a:{LABEL} {{id: 1}})-[:{TYPE}]->(b:{LABEL} {{id: 2}}), (b)-[:{TYPE} {{weight: 1}}]->(a),"
        f" (a)-[:{TYPE} {{weight: 2}}]->(b)"
    )
    result = put("1 2\n")
    assert (result.relationships_created, result.relationships_matched) == (0, 1)
    assert len(connections(query)) == 3


def test_batches_of_any_size_load_the_same(put, query, monkeypatch):
    monkeypatch.setattr(load_module, "BATCH", 7)
    calls = []
    put("".join(f"{i} {i + 1}\n" for i in range(20)), progress=lambda *call: calls.append(call))
    assert connections(query) == {(i, i + 1, None) for i in range(20)}
    assert calls == [
        ("nodes", 7, 21),
        ("nodes", 14, 21),
        ("nodes", 21, 21),
        ("relationships", 7, 20),
        ("relationships", 14, 20),
        ("relationships", 20, 20),
    ]


def test_a_load_that_was_cut_short_is_completed_by_the_next(put, query, monkeypatch):
    monkeypatch.setattr(load_module, "BATCH", 2)

    def stop(stage: str, done: int, _: int | None) -> None:
        if (stage, done) == ("relationships", 2):
            raise KeyboardInterrupt

    text = "1 2\n2 3\n3 4\n4 5\n"
    with pytest.raises(KeyboardInterrupt):
        put(text, progress=stop)
    assert len(connections(query)) == 2
    result = put(text)
    assert (result.nodes_created, result.relationships_created, result.relationships_matched) == (0, 2, 2)
    assert len(connections(query)) == 4


@pytest.mark.parametrize(
    "name",
    [
        "back`tick",
        "quo'te\"s",
        "two words",
        "Žluťoučký \U0001f600",
        "X {id: 1}) DETACH DELETE v //",
        "a\\u0060b",
        "semi;colon",
        "$rows",
    ],
)
def test_label_type_and_key_are_data(put, query, name):
    label = f"{LABEL} {name}"
    try:
        result = put("1 2\n", node_label=label, relationship_type=name, key=name)
        assert (result.nodes_created, result.relationships_created) == (2, 1)
        assert constraints(query, label) == [[[label], [name]]]
        rows = query(
            "MATCH (a)-[r]->(b) WHERE labels(a) = $labels AND labels(b) = $labels RETURN type(r), a[$key], b[$key]",
            labels=[label],
            key=name,
        )
        assert rows == [[name, 1, 2]]
        assert put("1 2\n", node_label=label, relationship_type=name, key=name).relationships_matched == 1
    finally:
        query(f"MATCH (v:{quote_identifier(label)}) DETACH DELETE v")


def test_keys_and_properties_are_data(put, query):
    text = "x'}) DETACH DELETE v //"
    put(f'"{text}","`"\n')
    assert connections(query) == {("`", text, None)}


def test_a_bad_line_writes_nothing_not_even_the_constraint(put, query):
    with pytest.raises(FileFormatError, match="line 3"):
        put("1 2\n2 3\n3\n")
    assert vertices(query) == []
    assert constraints(query) == []


def test_repeated_keys_in_the_database_are_refused_and_nothing_is_written(put, query):
    query(f"CREATE (:{LABEL} {{id: 1}}), (:{LABEL} {{id: 1}})")
    with pytest.raises(KeyPropertyError, match=f"'{LABEL}' share a value of 'id'"):
        put("1 2\n")
    assert vertices(query) == [{"id": 1}, {"id": 1}]
    assert constraints(query) == []


@pytest.mark.parametrize(
    ("there", "text", "says"),
    [
        ("'1'", "1 2\n", "has integer keys, but existing LoadedPerson.id values are text; a graph's keys must all be"),
        ("1", "# by hand\n1 2\n2 anna\n", r"graph.txt has text keys \('anna', line 3\), but .* values are integers;"),
    ],
)
def test_keys_of_another_kind_in_the_database_are_refused_and_nothing_is_written(put, query, there, text, says):
    query(f"CREATE (:{LABEL} {{id: {there}}})")
    with pytest.raises(KeyPropertyError, match=says):
        put(text)
    assert len(vertices(query)) == 1
    assert constraints(query) == []


def test_an_index_in_the_way_of_the_constraint_is_named(put, query):
    query(f"CREATE INDEX FOR (v:{LABEL}) ON (v.id)")
    with pytest.raises(SchemaError, match="Drop it") as caught:
        put("1 2\n")
    assert caught.value.data["statements"]
    assert vertices(query) == []


@pytest.mark.parametrize(
    "names",
    [
        *({"node_label": label} for label in sorted(OWN_LABELS)),
        *({"relationship_type": type_} for type_ in sorted(OWN_TYPES)),
        {"node_label": ""},
        {"relationship_type": ""},
        {"key": ""},
        {"relationship_type": "a\0b"},
    ],
)
def test_names_of_pcneo_s_own_and_names_that_are_none_are_refused_and_nothing_is_written(put, query, names):
    with pytest.raises(ParameterError):
        put("1 2\n", **names)
    assert vertices(query) == []
    assert constraints(query) == []


def test_a_vertex_that_vanishes_during_the_load_is_noticed(put, query):
    def vanish(stage: str, *_: int | None) -> None:
        if stage == "nodes":
            query(f"MATCH (v:{LABEL} {{id: 2}}) DETACH DELETE v")

    with pytest.raises(WriteMismatchError, match="1 of 2 rows") as caught:
        put("1 2\n1 3\n", progress=vanish)
    assert caught.value.data == {"sent": 2, "written": 1}
    assert connections(query) == set()


def test_a_batch_beyond_the_server_s_transaction_memory_is_halved_and_not_repeated(put, query, monkeypatch):
    run = neo4j.Transaction.run
    sizes = []

    def run_in_little_memory(tx: neo4j.Transaction, text: str, parameters: dict | None = None) -> neo4j.Result:
        rows = (parameters or {}).get("rows", [])
        if rows:
            sizes.append(len(rows))
        if len(rows) > 3:
            raise Neo4jError._hydrate_neo4j(code=OUT_OF_MEMORY, message="The memory pool limit was exceeded.")
        return run(tx, own_text(text), parameters)

    monkeypatch.setattr(neo4j.Transaction, "run", run_in_little_memory)
    result = put("".join(f"{i} {i + 1}\n" for i in range(6)))
    assert (result.nodes_created, result.relationships_created) == (7, 6)
    assert sizes == [7, 3, 4, 2, 2, 6, 3, 3]
    assert len(connections(query)) == 6


def test_a_vertex_of_another_label_is_not_a_vertex_of_the_graph(put, query):
    query("CREATE (:LoadedOther {id: 1})")
    assert put("1 2\n").nodes_created == 2
    assert query(f"MATCH (v:LoadedOther)--(:{LABEL}) RETURN v") == []


def test_a_label_whose_nodes_lack_the_key_is_refused(put, query: Query) -> None:
    put("1 2\n")
    put("1 2\n")
    with pytest.raises(KeyPropertyError, match=f"2 of 2 nodes labelled '{LABEL}' have no 'idd'.*Did you mean id"):
        put("1 2\n", key="idd")
    with pytest.raises(
        KeyPropertyError, match=r"have no 'number'.* has the properties 'id'\. Nothing was loaded\. Other"
    ):
        put("1 2\n", key="number")
    query(f"CREATE (:{LABEL} {{name: 'keyless'}})")
    with pytest.raises(KeyPropertyError, match=f"1 of 3 nodes labelled '{LABEL}' have no 'id'") as refused:
        put("2 3\n")
    assert "Did you mean" not in str(refused.value)
    assert query(f"MATCH (v:{LABEL}) RETURN properties(v)") == [[{"id": 1}], [{"id": 2}], [{"name": "keyless"}]]
