"""Every statement file, planned by a real Neo4j in each Cypher it speaks: indexes instead of scans, and no warning."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import neo4j
import pytest
from graphs import own_text
from places import ROOT
from standing import Schema

from pcneo.store.schema import OWN_SCHEMA
from pcneo.store.statements import Statement, load_statement

CYPHER = ROOT / "cypher"
FILES = sorted(CYPHER.glob("**/*.cypher"))
NAMES = [path.stem for path in FILES]
TAKE_SEVERAL = [path.stem for path in FILES if re.search(r"^// +\w+ +(labels|types) ", path.read_text("utf-8"), re.M)]
ONE = {"label": "Person", "labels": "Person", "type": "KNOWS", "types": "KNOWS", "property": "id", "index": "pcneo_key"}
SEVERAL = {"labels": ["Person", "Robot"], "types": ["KNOWS", "LIKES"]}
VALUES = {"string": "s", "integer": 1, "float": 0.5, "boolean": True, "datetime": None, "map": {}, "list": []}

LABEL_SCAN = re.compile(r"NodeByLabels?Scan")
OTHER_SCAN = re.compile(r"AllNodesScan|RelationshipTypes?Scan|AllRelationshipsScan")

# All of the data model, so that a misspelt label, type or property is unknown to the server and warned of; and enough
# of it for the planner to weigh one way against another as it does on a graph of some size.
EXAMPLE = [
    "UNWIND range(1, 600) AS i CREATE (:Person {id: i}), (:Robot {id: 1000 + i})",
    "UNWIND range(1, 592) AS i UNWIND range(1, 8) AS step "
    "MATCH (a:Person {id: i}) MATCH (b:Person {id: i + step}) CREATE (a)-[:KNOWS]->(b)",
    "UNWIND range(1, 600) AS i MATCH (a:Person {id: i}) MATCH (b:Robot {id: 1000 + i}) CREATE (a)-[:LIKES]->(b)",
    "MATCH (v:Person) CREATE (v)-[:HAS_COHESION]->(:PCohesion "
    "{run: 'r', from: 1, until: 9007199254740991, p: 0.1, search: 'density', size: 9, edges: 8, density: 0.2, "
    "proven: true, best: true, owner: 1, digest: ''})",
    "MATCH (v:Person) WHERE v.id < 60 CREATE (v)-[:HAS_COHESION]->(:PCohesion:PCohesionRetired "
    "{run: 'r', from: 1, until: 2, p: 0.1, search: 'density', size: 9, edges: 8, density: 0.2, owner: 1, digest: ''})",
    "MATCH (v:Person)-[:HAS_COHESION]->(c) MATCH (v)-[:KNOWS]-(m) WITH DISTINCT m, c CREATE (m)-[:IN_COHESION]->(c)",
    "CREATE (:PCohesionGraph "
    "{name: 'g', nodeLabels: ['Person'], relationshipTypes: ['KNOWS'], key: 'id', fingerprintKey: '', format: 3, "
    "lastVersion: 2, lockedAt: datetime(), dueAt: datetime(), rereadAt: datetime()})",
    "CREATE (:PCohesionRun {id: 'r', graph: 'g', scope: 'graph', p: 0.1, pText: '1/10', search: 'density', "
    "version: 2})",
    "CREATE (:PCohesionRun {id: 'earlier', graph: 'g', score: 'density'})",
    "UNWIND [1, 2] AS i CREATE (:PCohesionVersion {run: 'r', version: i, readable: true, pcneo: '', revision: 1, "
    "effort: 1, fromFiles: false, "
    "added: 1, retired: 1, cohesions: 2, memberships: 2, nodeCount: 2, relationshipCount: 1, vertices: 2, edges: 1, "
    "fingerprint: '', membershipHash: '', startedAt: datetime(), finishedAt: datetime(), "
    "replacedAt: datetime(), heldAt: datetime()})",
    "CREATE (:PCohesionFence {graph: 'g', number: 1, writer: '', heldAt: datetime(), lastVersion: 1})",
    "UNWIND range(1, 2000) AS i MATCH (r:PCohesionRun {id: 'r'}) "
    "CREATE (:PCohesionRequest {id: i, status: 'complete', command: '', graph: 'g', p: '', search: '', vertices: [1], "
    "run: '', by: '', cancel: false, progress: 0.0, message: '', version: 1, requestedAt: datetime(), attempts: 1, "
    "startedAt: datetime(), finishedAt: datetime(), lockedAt: datetime(), worker: '', token: '', "
    "leaseUntil: datetime(), notBefore: datetime(), busySince: datetime()})-[:PRODUCED {version: 1}]->(r)",
    "MATCH (q:PCohesionRequest) WHERE q.id < 9 SET q.status = 'requested'",
    "CREATE (:PCohesionBudget {graph: 'g', number: 1, epsilon: '1/1', delta: '0/1', who: '', at: datetime()})",
    "CREATE (:PCohesionRelease {id: 'x', graph: 'g', nodeLabels: [''], relationshipTypes: [''], run: 'r', "
    "runVersion: 1, mechanism: 'elv', k: 3, p: '1/10', "
    "search: 'density', epsilon: '1/1', epsilonOne: '1/10', delta: '0/1', h: 3, membershipHash: '', "
    "answers: 'x', threshold: 9, vertices: 2, keysHash: '', fingerprint: '', answersHash: '', property: '', "
    "propertyHash: '', keysFingerprint: '', file: '', meanCount: 1.5, meanDegree: 1.5, who: '', version: '', "
    "at: datetime()})",
    "CREATE (:PCohesionLedger {name: 'ledger', secret: ''})",
    "CREATE (:PCohesionNote {kind: '', graph: 'g', other: 'h', what: '', records: [''], who: '', at: datetime()})",
]
USERS = (
    "CREATE CONSTRAINT FOR (v:Person) REQUIRE v.id IS UNIQUE",
    "CREATE CONSTRAINT FOR (v:Robot) REQUIRE v.id IS UNIQUE",
)


@contextmanager
def indexed(neo4j_driver: neo4j.Driver, database: str, schema: Schema) -> Iterator[neo4j.Session]:
    """A session on a database that has nothing but the indexes of the data model; it is emptied afterwards."""
    schema.clear("bare")
    with neo4j_driver.session(database=database) as session:
        for text in (*USERS, *(item.statement for item in OWN_SCHEMA)):
            session.run(own_text(text)).consume()
        session.run("CALL db.awaitIndexes()").consume()
        yield session
    schema.clear("bare")


@pytest.fixture(scope="module")
def planner(neo4j_driver: neo4j.Driver, database: str, schema: Schema) -> Iterator[neo4j.Session]:
    """A session on a database with the indexes of the data model and all that it speaks of."""
    with indexed(neo4j_driver, database, schema) as session:
        for text in EXAMPLE:
            session.run(own_text(text)).consume()
        session.run("CALL db.prepareForReplanning()").consume()
        yield session


def value_of(kind: str) -> object:
    """Some value of a kind as headers write it."""
    word = re.match(r"[a-z]+", kind)
    assert word, kind
    return VALUES[word[0]]


def explain(planner: neo4j.Session, language: str, statement: Statement, text: str) -> neo4j.ResultSummary:
    parameters = {parameter.name: value_of(parameter.kind) for parameter in statement.parameters}
    return planner.run(own_text(f"CYPHER {language} EXPLAIN {text}"), parameters).consume()


def operators(plan: dict) -> Iterator[str]:
    yield plan["operatorType"]
    for child in plan.get("children", []):
        yield from operators(child)


def hubs_sought(plan: dict) -> Iterator[str]:
    """The steps that begin at the hubs of a run."""
    details = str(plan["args"].get("Details", ""))
    if "IndexSeek" in plan["operatorType"] and ":PCohesion(" in details:
        yield details
    for child in plan.get("children", []):
        yield from hubs_sought(child)


def check(statement: Statement, summary: neo4j.ResultSummary) -> None:
    warnings = [status.status_description for status in summary.gql_status_objects if status.is_notification]
    assert warnings == []
    steps = list(operators(summary.plan or {"operatorType": "none: a command of the schema or the server"}))
    assert [step for step in steps if OTHER_SCAN.search(step)] == []
    if not statement.scan:
        assert [step for step in steps if LABEL_SCAN.search(step)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_statement_plans_without_scans_or_warnings(name: str, planner: neo4j.Session, languages: list[str]) -> None:
    statement = load_statement(name)
    text = statement.render({declared.name: ONE[declared.kind] for declared in statement.names})
    for language in languages:
        check(statement, explain(planner, language, statement, text))


@pytest.mark.parametrize("name", TAKE_SEVERAL)
def test_a_statement_plans_for_several_labels_and_types_without_scans_or_warnings(
    name: str, planner: neo4j.Session, languages: list[str]
) -> None:
    statement = load_statement(name)
    text = statement.render({declared.name: (ONE | SEVERAL)[declared.kind] for declared in statement.names})
    for language in languages:
        check(statement, explain(planner, language, statement, text))


def test_a_scan_and_an_unknown_name_would_be_noticed(planner: neo4j.Session, languages: list[str]) -> None:
    statement = load_statement("largest_cohesions")
    for text in (
        "MATCH (n) RETURN n",
        "MATCH (n:Person) RETURN n",
        "MATCH (n:Person|Robot) RETURN n",
        "MATCH ()-[r:KNOWS]->() RETURN r",
        "MATCH ()-[r]->() RETURN r",
        "MATCH (n:Person {id: 1}) RETURN n.misspelt",
        "MATCH (n:Person {id: 1})--(:Misspelt) RETURN n",
    ):
        for language in languages:
            with pytest.raises(AssertionError):
                check(statement, explain(planner, language, statement, text))


@pytest.mark.parametrize("people", [0, 2_000])
def test_what_is_asked_of_many_vertices_begins_at_them_though_it_was_planned_before_there_were_hubs(
    people: int, neo4j_driver: neo4j.Driver, database: str, schema: Schema
) -> None:
    """Else each of them would go through all hubs of the run until the server plans again."""
    with indexed(neo4j_driver, database, schema) as session:
        session.run("UNWIND range(1, $n) AS i CREATE (:Person {id: i})-[:KNOWS]->(:Robot {id: i})", n=people).consume()
        session.run("CALL db.prepareForReplanning()").consume()
        for name in ("get_cohesions", "get_hubs", "list_containing", "retire_cohesions"):
            statement = load_statement(name)
            text = statement.render({declared.name: ONE[declared.kind] for declared in statement.names})
            plan = explain(session, "5", statement, text).plan
            assert plan, name
            assert list(hubs_sought(plan)) == [], name
        naive = (
            "UNWIND $keys AS key MATCH (v:Person {id: key})-[:HAS_COHESION]->(hub:PCohesion {run: $run}) "
            "WHERE hub.from <= $version AND hub.until > $version RETURN collect(v.id)"
        )
        plan = session.run(own_text(f"CYPHER 5 EXPLAIN {naive}"), keys=[1], run="r", version=1).consume().plan
        assert plan
        if people:  # without any, both ways cost nothing, and the planner takes either
            assert list(hubs_sought(plan)) != [], "nothing would be noticed"


def test_statements_seek_by_index_on_a_database_that_has_next_to_nothing_too(
    neo4j_driver: neo4j.Driver, database: str, schema: Schema
) -> None:
    """A service keeps plans that were made when there was little."""
    with indexed(neo4j_driver, database, schema) as session:
        session.run("CREATE (:Person {id: 1})-[:KNOWS]->(:Person {id: 2})").consume()
        session.run("CALL db.prepareForReplanning()").consume()
        for statement in filter(lambda statement: not statement.scan, map(load_statement, NAMES)):
            text = statement.render({declared.name: ONE[declared.kind] for declared in statement.names})
            steps = list(operators(explain(session, "5", statement, text).plan or {"operatorType": "none"}))
            assert [step for step in steps if LABEL_SCAN.search(step) or OTHER_SCAN.search(step)] == [], statement.name
