"""The queries for people, on a real Neo4j, against the same questions asked of plain dicts and sets.

The cohesions are arbitrary sets, not minimal ones: the queries must return what is stored, whatever it is. Around the
graph lies what must not mislead them: parallel and opposite relationships, self-loops, relationships of other types,
neighbours without the label, a second run, a vertex with two labels.
"""

import random
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations, pairwise

import neo4j
import pytest
from graphs import own_text

from pcneo.basics.selection import Selection
from pcneo.errors import NotFoundError, ParameterError
from pcneo.store.connection import connect
from pcneo.store.tokens import quote_identifier
from pcneo.stored.queries import list_queries, render_query, run_query

RUN, OTHER_RUN = "the run", "another run"


@dataclass
class Stored:
    """A graph with cohesions, as Python sees it and as it was written."""

    driver: neo4j.Driver
    database: str
    node_labels: list[str]
    relationship_types: list[str]
    key: str
    relationships: list[tuple]  # (start, type, end), self-loops and repetitions included
    neighbours: dict  # vertex -> set of its neighbours
    cohesions: dict  # vertex -> set of members
    vertices: list = field(init=False)

    def __post_init__(self) -> None:
        self.vertices = sorted(self.neighbours)

    def ask(self, query: str, **parameters) -> list[tuple]:
        result = run_query(
            connect(driver=self.driver, database=self.database),
            query,
            parameters={"run": RUN, **parameters},
        )
        assert all(len(row) == len(result.columns) for row in result.rows)
        return result.rows

    def connections(self, members: set) -> set:
        return {pair for pair in combinations(sorted(members), 2) if pair[1] in self.neighbours[pair[0]]}

    def figures(self, v) -> tuple:
        """Size, edges and density of a vertex's cohesion."""
        size, edges = len(self.cohesions[v]), len(self.connections(self.cohesions[v]))
        return size, edges, 2 * edges / (size * (size - 1)) if size > 1 else 0.0


def integer_key(i: int) -> int:
    return 3 * i - 20


def string_key(i: int) -> str:
    return ("a", "é", "`", "\\", '"')[i % 5] + f"{i:02}"


PLAIN = (["Person"], ["KNOWS"], "id", integer_key)
HOSTILE = (["Per`son", "\\u0060) //"], ["KNOWS'", 'HAS "a" /*'], "the `key` of $run", string_key)


@pytest.fixture(scope="module", params=[PLAIN, HOSTILE], ids=["plain names", "hostile names"])
def stored(request, neo4j_driver, database, schema) -> Stored:
    labels, types, key, key_of = request.param
    random_ = random.Random(7)
    vertices = [key_of(i) for i in range(24)]
    connected = vertices[:-1]  # the last one stays isolated
    relationships = [(*random_.sample(connected, 2), random_.choice(types)) for _ in range(60)]
    relationships += [(b, a, random_.choice(types)) for a, b, _ in relationships[:10]]
    relationships += relationships[5:12] + [(v, v, types[0]) for v in connected[:3]]
    neighbours = {v: {b if a == v else a for a, b, _ in relationships if v in (a, b)} - {v} for v in vertices}
    cohesions = {v: some_members(neighbours, v, random_) for v in vertices}
    stored = Stored(
        neo4j_driver,
        database,
        labels,
        types,
        key,
        [(a, t, b) for a, b, t in relationships],
        neighbours,
        cohesions,
    )
    schema.clear("bare")
    write(stored)
    return stored


def some_members(neighbours: dict, v, random_: random.Random) -> set:
    """The vertex and some of those one or two steps away."""
    near = sorted({w for u in neighbours[v] for w in neighbours[u] | {u}} - {v})
    return {v, *random_.sample(near, min(random_.randrange(1, 9), len(near)))}


def write(stored: Stored) -> None:
    def run(text: str, rows: list[dict] | None = None) -> None:
        stored.driver.execute_query(own_text(text), rows=rows, database_=stored.database)

    labels, key = [quote_identifier(label) for label in stored.node_labels], quote_identifier(stored.key)
    types = [quote_identifier(type_) for type_ in stored.relationship_types]
    for i, label in enumerate(labels):
        run(f"CREATE CONSTRAINT queries_test_{i} FOR (v:{label}) REQUIRE v.{key} IS UNIQUE")
    run("CREATE INDEX queries_test FOR (c:PCohesion) ON (c.run)")
    for i, v in enumerate(stored.vertices):
        carried = ":".join(labels if i % 5 == 0 else [labels[i % len(labels)]])
        run(f"UNWIND $rows AS row CREATE (v:{carried}) SET v.{key} = row.v", [{"v": v}])

    def find(variable: str) -> str:
        return f"MATCH ({variable}:{'|'.join(labels)} {{{key}: row.{variable}}})"

    for type_, quoted in zip(stored.relationship_types, types, strict=True):
        rows = [{"a": a, "b": b} for a, kind, b in stored.relationships if kind == type_]
        run(f"UNWIND $rows AS row {find('a')} {find('b')} CREATE (a)-[:{quoted}]->(b)", rows)
    rows = [{"a": a, "b": b} for a, b in pairwise(stored.vertices)]
    run(f"UNWIND $rows AS row {find('a')} {find('b')} CREATE (a)-[:OTHER_TYPE]->(b)", rows)
    run(f"UNWIND $rows AS row {find('a')} CREATE (a)-[:{types[0]}]->(:Stranger {{{key}: row.b}})", rows)
    graph = {"labels": stored.node_labels, "types": stored.relationship_types, "key": stored.key, "secret": "0" * 64}
    run(
        "UNWIND $rows AS row CREATE (:PCohesionGraph {name: 'g', nodeLabels: row.labels, "
        "relationshipTypes: row.types, key: row.key, fingerprintKey: row.secret})",
        [graph],
    )
    everybody = dict.fromkeys(stored.vertices, stored.vertices)
    hubs = [(RUN, 3, 2**53 - 1, stored.cohesions), (OTHER_RUN, 1, 2**53 - 1, everybody)]
    hubs += [(RUN, 1, 3, everybody), (RUN, 4, 2**53 - 1, everybody)]  # retired by the version; written for the next one
    for run_id, since, until, cohesions in hubs:
        run(
            "UNWIND $rows AS row CREATE (:PCohesionRun {id: row.run, graph: 'g', scope: 'graph', p: 0.5, pText: '1/2', "
            "search: 'density', version: 3}), (:PCohesionVersion {run: row.run, version: 3, readable: true, "
            "pcneo: '0', revision: 1, effort: 1, added: 0, retired: 0, cohesions: 0, memberships: 0, nodeCount: 0, "
            "relationshipCount: 0, vertices: 0, edges: 0, fingerprint: '0', membershipHash: '0', "
            "startedAt: datetime(), finishedAt: datetime()})",
            [{"run": run_id}] if (run_id, since) != (RUN, 1) and since != 4 else [],
        )
        rows = [
            dict(zip(("v", "members", "run", "size", "edges", "density", "since", "until"), row, strict=True))
            for row in (
                (v, sorted(members), run_id, *stored.figures(v), since, until) for v, members in cohesions.items()
            )
        ]
        run(
            f"UNWIND $rows AS row {find('v')} CREATE (v)-[:HAS_COHESION]->(c:PCohesion "
            "{run: row.run, from: row.since, until: row.until, size: row.size, edges: row.edges, "
            "density: row.density}) "
            f"WITH c, row UNWIND row.members AS m MATCH (member:{'|'.join(labels)} {{{key}: m}}) "
            "CREATE (member)-[:IN_COHESION]->(c)",
            rows,
        )


def top(rows: list[tuple], limit: int, order) -> list[tuple]:
    return sorted(rows, key=order)[:limit]


def test_critical_connections_are_the_edges_inside_each_once_with_all_their_relationships(stored: Stored) -> None:
    for v in stored.vertices:
        rows = stored.ask("critical_connections", id=v)
        types = {frozenset((a, b)): sorted(types) for a, b, types in rows}
        assert len(types) == len(rows)
        assert types == {
            frozenset(pair): sorted(t for a, t, b in stored.relationships if {a, b} == set(pair))
            for pair in stored.connections(stored.cohesions[v])
        }


def test_critical_connections_come_as_nodes_and_relationships_that_a_browser_draws(stored: Stored) -> None:
    v = max(stored.vertices, key=lambda v: len(stored.connections(stored.cohesions[v])))
    text = render_query(
        "critical_connections",
        selection=Selection(stored.node_labels, stored.relationship_types, stored.key),
    )
    records = stored.driver.execute_query(own_text(text), id=v, run=RUN, database_=stored.database).records
    assert len(records) == len(stored.connections(stored.cohesions[v])) > 0
    for record in records:
        ends = {record["a"].element_id, record["b"].element_id}
        assert all({end.element_id for end in relationship.nodes} == ends for relationship in record["relationships"])


def test_containing_cohesions_are_those_that_have_the_vertex_as_a_member(stored: Stored) -> None:
    for v in stored.vertices:
        expected = {(w, *stored.figures(w)) for w in stored.vertices if v in stored.cohesions[w]}
        rows = stored.ask("containing_cohesions", id=v)
        assert len(rows) == len(expected)
        assert set(rows) == expected


@pytest.mark.parametrize("limit", [1, 5, 1000])
def test_most_needed_vertices_are_members_of_the_most_cohesions(stored: Stored, limit: int) -> None:
    counts = Counter(v for members in stored.cohesions.values() for v in members)
    expected = top(list(counts.items()), limit, lambda row: (-row[1], row[0]))
    assert stored.ask("most_needed_vertices", limit=limit) == expected


@pytest.mark.parametrize("limit", [1, 5, 1000])
def test_most_needed_connections_are_critical_in_the_most_cohesions(stored: Stored, limit: int) -> None:
    counts = Counter(pair for members in stored.cohesions.values() for pair in stored.connections(members))
    expected = top([(*pair, count) for pair, count in counts.items()], limit, lambda row: (-row[2], *row[:2]))
    assert stored.ask("most_needed_connections", limit=limit) == expected


def test_cohesion_overlap_is_what_two_cohesions_share(stored: Stored) -> None:
    pairs = [*combinations(stored.vertices[::4], 2), (stored.vertices[0],) * 2, (stored.vertices[-1],) * 2]
    assert {bool(stored.cohesions[v] & stored.cohesions[w]) for v, w in pairs} == {True, False}
    for v, w in pairs:
        mine, other = stored.cohesions[v], stored.cohesions[w]
        row = (len(mine), len(other), len(mine & other), len(mine & other) / len(mine | other), sorted(mine & other))
        assert stored.ask("cohesion_overlap", id=v, otherId=w) == [row]


@pytest.mark.parametrize("limit", [1, 5, 1000])
@pytest.mark.parametrize(
    ("query", "smallest", "order"),
    [
        ("smallest_cohesions", 2, lambda row: (row[1], row[0])),
        ("largest_cohesions", 1, lambda row: (-row[1], row[0])),
        ("densest_cohesions", 2, lambda row: (-row[3], -row[1], row[0])),
    ],
)
def test_cohesions_are_ranked_by_size_or_density(stored: Stored, query: str, smallest: int, order, limit: int) -> None:
    rows = [(v, *stored.figures(v)) for v in stored.vertices if len(stored.cohesions[v]) >= smallest]
    assert stored.ask(query, limit=limit) == top(rows, limit, order)


def test_connections_are_critical_where_the_other_end_is_a_member(stored: Stored) -> None:
    for v in stored.vertices:
        expected = {(w, w in stored.cohesions[v]) for w in stored.neighbours[v]}
        rows = stored.ask("split_connections", id=v)
        assert len(rows) == len(expected)
        assert set(rows) == expected
        assert rows == sorted(rows, key=lambda row: (not row[1], row[0]))


def test_members_two_hops_away_share_a_neighbour_and_no_connection(stored: Stored) -> None:
    answered = 0
    for v in stored.vertices:
        expected = [
            (w, sorted(stored.neighbours[v] & stored.neighbours[w]))
            for w in sorted(stored.cohesions[v] - stored.neighbours[v] - {v})
            if stored.neighbours[v] & stored.neighbours[w]
        ]
        assert stored.ask("members_two_hops_away", id=v) == expected
        answered += len(expected)
    assert answered > 0


def test_a_graph_for_browser_has_the_critical_connections_with_the_vertex_and_its_hub(stored: Stored) -> None:
    for v in stored.vertices:
        plain, drawn = stored.ask("critical_connections", id=v), stored.ask("cohesion_graph", id=v)
        assert [tuple(row[1:]) for row in drawn] == [tuple(row) for row in plain]
        assert all(row[0] == [v, "HAS_COHESION"] for row in drawn)


def test_every_query_is_asked_here() -> None:
    assert {query.name for query in list_queries()} == {
        "cohesion_graph",
        "cohesion_overlap",
        "containing_cohesions",
        "critical_connections",
        "densest_cohesions",
        "largest_cohesions",
        "members_two_hops_away",
        "most_needed_connections",
        "most_needed_vertices",
        "smallest_cohesions",
        "split_connections",
    }


def test_what_does_not_exist_is_not_found(stored: Stored) -> None:
    v, nobody = stored.vertices[0], type(stored.vertices[0])(1000)
    with pytest.raises(NotFoundError, match=r"no query 'nonsense'.*critical_connections, densest_cohesions"):
        stored.ask("nonsense", id=v)
    with pytest.raises(NotFoundError, match="no run 'nonsense'"):
        stored.ask("critical_connections", run="nonsense", id=v)
    with pytest.raises(NotFoundError, match=r"no vertex with the key '?1000"):
        stored.ask("critical_connections", id=nobody)
    with pytest.raises(NotFoundError, match=r"no vertex with the key '?1000"):
        stored.ask("cohesion_overlap", id=v, otherId=nobody)


def test_the_graphs_own_key_property_may_stand_for_the_one_vertex_still_to_be_named(stored: Stored) -> None:
    v, other = stored.vertices[:2]
    assert stored.ask("critical_connections", **{stored.key: v}) == stored.ask("critical_connections", id=v)
    both = {stored.key: v, "otherId": other}
    assert stored.ask("cohesion_overlap", **both) == stored.ask("cohesion_overlap", id=v, otherId=other)
    here = re.escape(f"takes no parameter 'emial'. It takes run, id. The key of a vertex is its `{stored.key}` here.")
    with pytest.raises(ParameterError, match=here):
        stored.ask("critical_connections", emial=v)


def test_an_isolated_vertex_exists_and_has_no_critical_connections(stored: Stored) -> None:
    (isolated,) = [v for v in stored.vertices if not stored.neighbours[v]]
    assert stored.ask("critical_connections", id=isolated) == []
