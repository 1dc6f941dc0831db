"""`pcneo queries`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pcneo.basics.selection import Selection
from pcneo.cli.completion import complete_queries
from pcneo.cli.console import connected, note, note_run, print_json, print_table
from pcneo.cli.options import GraphName, Json, NodeLabels, RelationshipTypes, RunP, RunSearch
from pcneo.cli.streams import say_verbatim
from pcneo.errors import ParameterError

__all__ = ["queries"]


def queries(
    name: Annotated[
        str | None, typer.Argument(help="One query; without it, all are listed.", autocompletion=complete_queries)
    ] = None,
    node_label: NodeLabels = None,
    relationship_type: RelationshipTypes = None,
    key: Annotated[str | None, typer.Option("--key", help="Property that holds the key.")] = None,
    run: Annotated[
        bool,
        typer.Option(
            "--run",
            help="Run the query and show a table; --graph, -p, --search or --param run=ID say of which stored run.",
        ),
    ] = False,
    graph: GraphName = None,
    p: RunP = None,
    search: RunSearch = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param", help="NAME=VALUE; limit is 10 and run the latest unless given; -p says which of several."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List, print or run the Cypher queries that ask stored cohesions.

    With --graph, -p, --search or --param a query is printed with the labels, types, key and run of the database.

    Example: pcneo queries critical_connections --run --param id=105
    """
    from pcneo.stored.queries import list_queries, render_for_run, render_query, run_query

    stored = graph is not None or p is not None or search is not None or bool(param)
    if name is None:
        if run or stored or node_label or relationship_type or key:
            raise typer.BadParameter("Name the query; without a name, all are listed.", param_hint="NAME")
        listed = [(query.name, query.summary) for query in list_queries()]
        print_json([{"name": n, "summary": s} for n, s in listed]) if as_json else print_table(
            ["query", "asks"], listed
        )
        return
    selection = Selection(node_label or (), relationship_type or (), key)
    given = {"--node-label": node_label, "--relationship-type": relationship_type, "--key": key}
    if not run and not stored:
        cypher = render_query(name, selection=selection)
        _print_query(name, cypher if any(given.values()) else f"{_OF_THE_SAMPLE}\n{cypher}", as_json)
        _note_unnamed(given)
        return
    parameters = dict(map(_parameter, param or []))
    if not run:
        if any(given.values()):
            raise typer.BadParameter("A stored run has names of its own.", param_hint=", ".join(given))
        with connected() as db:
            cypher = render_for_run(db, name, parameters=parameters, graph=graph, p=p, search=search)
        _print_query(name, cypher, as_json)
        return
    with connected() as db:
        result = run_query(
            db,
            name,
            parameters=parameters,
            graph=graph,
            p=p,
            search=search,
            selection=selection,
        )
    note_run(result.run, moved=result.moved)
    if as_json:
        print_json([dict(zip(result.columns, row, strict=True)) for row in result.rows])
    else:
        print_table(result.columns, result.rows, names=result.keys)


_OF_THE_SAMPLE = "// Labels, types and key are those of the sample graph; --graph GRAPH fills in yours."
"""What a query without names begins with; a comment, so that it runs as it is printed."""


def _print_query(name: str, cypher: str, as_json: bool) -> None:
    if as_json:
        print_json({"name": name, "cypher": cypher})
    else:
        say_verbatim(cypher.removesuffix("\n"))


def _note_unnamed(given: dict[str, object]) -> None:
    """Note which names are still the sample's where others are the user's: such a query may fit no database."""
    left = [option for option, value in given.items() if not value]
    if 0 < len(left) < len(given):
        note(f"Not given, so that the sample's name stands there: {', '.join(left)}")


def _parameter(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ParameterError(f"--param {text!r} must look like NAME=VALUE.", name="param", value=text)
    return name, int(value) if name == "limit" and value.isascii() and value.isdigit() else value
