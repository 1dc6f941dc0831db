"""Queries as they are listed, printed and refused before any database is asked."""

import json
from typing import Any

import pytest

from pcneo.basics.selection import Selection
from pcneo.cli.options import complete_queries
from pcneo.errors import NotFoundError, ParameterError
from pcneo.store.tokens import tokenize
from pcneo.stored.queries import list_queries, render_query, run_query

QUERIES = [query.name for query in list_queries()]


def run(name: str, **parameters: object) -> None:
    """The database is never reached: what is wrong is seen before."""
    nobody: Any = None
    run_query(nobody, name, parameters=parameters)


def test_names_of_queries_are_completed() -> None:
    assert [name for name, _ in complete_queries("most_")] == ["most_needed_connections", "most_needed_vertices"]
    assert complete_queries("nonsense") == []


def test_queries_are_listed_by_name() -> None:
    assert sorted(QUERIES) == QUERIES
    assert "critical_connections" in QUERIES
    shown = repr(list_queries()).splitlines()
    assert [line.split(": ")[0] for line in shown] == QUERIES
    assert all(line.endswith(".") for line in shown), shown


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_prints_as_its_file_says_where_no_names_are_given(name: str) -> None:
    (query,) = [query for query in list_queries() if query.name == name]
    printed = render_query(name)
    assert printed.startswith(f"// {query.summary}\n")
    assert printed.endswith(f"\n{query.text}\n")


def test_a_query_prints_with_the_names_given_and_the_others_as_they_are() -> None:
    printed = render_query("critical_connections", selection=Selection(["A", "B`"], key="k"))
    assert "MATCH (:`A`|`B``` {`k`: $id})-[:HAS_COHESION]->(c:PCohesion {run: $run})" in printed
    assert "MATCH (a)-[r:KNOWS]-(b)" in printed


def test_values_are_written_as_literals_that_nothing_inside_them_can_end() -> None:
    hostile = 'a"}) DETACH DELETE n // \\" \n$id'
    printed = render_query("critical_connections", values={"run": hostile, "id": 58})
    tokens = [token for token in tokenize(printed) if not token.is_silent]
    assert not any(token.kind == "parameter" for token in tokens)
    literals = [token.text for token in tokens if token.kind == "string"]
    assert [json.loads(literal) for literal in literals] == [hostile, hostile]  # the run's version, and its hubs
    assert "{id: 58}" in printed
    assert "$run" in render_query("critical_connections", values={"id": 58})


@pytest.mark.parametrize("name", QUERIES)
def test_names_stay_out_of_the_comments_of_a_printed_query(name: str) -> None:
    hostile = "x\nDETACH DELETE n"
    printed = render_query(name, selection=Selection([hostile], [hostile], hostile))
    assert not any(hostile in token.text for token in tokenize(printed) if token.kind == "comment")
    assert any(token.kind == "quoted" for token in tokenize(printed))


def test_an_unknown_query_is_not_found_and_those_there_are_are_listed() -> None:
    with pytest.raises(NotFoundError, match=r"'nonsense'\. The queries are .*critical_connections"):
        render_query("nonsense")
    with pytest.raises(NotFoundError, match=r"Did you mean critical_connections\?"):
        render_query("critical_conections")
    with pytest.raises(NotFoundError, match="critical_connections"):
        run("get_page", run="r")


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"run": "r", "limit": 3, "id": 1}, "takes no parameter 'id'"),
        ({"run": "r", "limit": 0}, r"limit .* must be a whole number of at least 1, not 0"),
        ({"run": "r", "limit": True}, r"limit .* must be a whole number of at least 1, not True"),
        ({"run": "r", "limit": "3"}, r"limit .* must be a whole number of at least 1, not '3'"),
        ({"run": 5, "limit": 3}, "run .* must be text, not 5"),
    ],
)
def test_parameters_that_a_query_does_not_take_are_refused(parameters: dict[str, object], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        run("largest_cohesions", **parameters)


def test_a_key_is_an_integer_or_a_string() -> None:
    with pytest.raises(ParameterError, match=r"id .* must be a whole number or text, not 1\.5"):
        run("critical_connections", run="r", id=1.5)


def test_a_missing_key_is_named_before_any_database_is_asked() -> None:
    with pytest.raises(
        ParameterError, match="critical_connections needs a vertex: add --param id=KEY \\(in Python id=KEY\\)"
    ):
        run("critical_connections", run="r")
