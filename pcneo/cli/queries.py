"""`pcneo queries`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pcneo.cli.console import connected, note_run, print_json, print_table
from pcneo.cli.options import Json, RunOrGraph, complete_queries
from pcneo.cli.streams import say_verbatim
from pcneo.errors import ParameterError


def queries(
    name: Annotated[
        str | None, typer.Argument(help="The query; without a name, all are listed.", autocompletion=complete_queries)
    ] = None,
    run: RunOrGraph = None,
    runs_it: Annotated[bool, typer.Option("--run", help="Run the query and show a table.")] = False,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", help="NAME=VALUE; may be given several times; limit is 10 by default."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List, print or run the Cypher queries about stored cohesions.

    With a run or a graph, or with --param, a query is printed with the labels, types, key and run of the database. It
    runs on the latest run of a whole graph unless another is named; if several graphs have runs, name one.

    Example: pcneo queries critical_connections --run --param id=105
    """
    from pcneo.stored.queries import list_queries, render_for_run, render_query, run_query
    from pcneo.stored.runs import run_or_graph

    if name is None:
        if runs_it or param:
            raise typer.BadParameter("Name the query; without a name, all are listed.", param_hint="NAME")
        listed = [(query.name, query.summary) for query in list_queries()]
        print_json([{"name": n, "summary": s} for n, s in listed]) if as_json else print_table(
            ["query", "asks"], listed
        )
        return
    if not (runs_it or param or run):
        cypher = render_query(name)
        _print_query(name, f"{_OF_THE_SAMPLE}\n{cypher}", as_json)
        return
    parameters = dict(map(_parameter, param or []))
    with connected() as db:
        of = run_or_graph(db, run)
        parameters |= {"run": of["run"]} if "run" in of else {}
        if not runs_it:
            cypher = render_for_run(db, name, parameters=parameters, graph=of.get("graph"))
            _print_query(name, cypher, as_json)
            return
        result = run_query(db, name, parameters=parameters, graph=of.get("graph"))
    note_run(result.run, moved=result.moved)
    if as_json:
        print_json([dict(zip(result.columns, row, strict=True)) for row in result.rows])
    else:
        print_table(result.columns, result.rows, names=result.keys)


_OF_THE_SAMPLE = "// Labels, types and key are those of the sample graph; `pcneo queries NAME GRAPH` fills in yours."
"""First line of a query that is printed for the sample; a comment, so that the query runs as printed."""


def _print_query(name: str, cypher: str, as_json: bool) -> None:
    if as_json:
        print_json({"name": name, "cypher": cypher})
    else:
        say_verbatim(cypher.removesuffix("\n"))


def _parameter(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ParameterError(f"--param {text!r} must look like NAME=VALUE.", name="param", value=text)
    return name, int(value) if name == "limit" and value.isascii() and value.isdigit() else value
