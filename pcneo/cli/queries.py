"""`pcneo queries`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pcneo.cli.console import connected, note, print_json, print_table
from pcneo.cli.options import Json, NodeLabels, RelationshipTypes
from pcneo.errors import ParameterError

__all__ = ["queries"]


def queries(
    name: Annotated[str | None, typer.Argument(help="One query; without it, all are listed.")] = None,
    node_label: NodeLabels = None,
    relationship_type: RelationshipTypes = None,
    key: Annotated[str | None, typer.Option("--key", help="Property that holds the key.")] = None,
    run: Annotated[bool, typer.Option("--run", help="Run the query and show a table.")] = False,
    graph: Annotated[
        str | None, typer.Option("--graph", help="With --run: the graph whose latest run is asked.")
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option("--param", help="With --run: NAME=VALUE; $run is the latest, $limit 10.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List, print or run the Cypher queries that ask stored cohesions.

    Example: pcneo queries critical_connections --run --param id=105
    """
    from pcneo.stored.queries import list_queries, render_query, run_query

    if name is None:
        if run or graph or param or node_label or relationship_type or key:
            raise typer.BadParameter("Name the query; without a name, all are listed.", param_hint="NAME")
        listed = [(query.name, query.summary) for query in list_queries()]
        print_json([{"name": n, "summary": s} for n, s in listed]) if as_json else print_table(
            ["query", "asks"], listed
        )
        return
    if not run:
        if graph is not None or param:
            raise typer.BadParameter("These are for a query that is run; add --run.", param_hint="--graph, --param")
        cypher = render_query(name, node_labels=node_label, relationship_types=relationship_type, key=key)
        if as_json:
            print_json({"name": name, "cypher": cypher})
        else:
            print(cypher, end="")
        _note_unnamed({"--node-label": node_label, "--relationship-type": relationship_type, "--key": key})
        return
    with connected() as (driver, database):
        result = run_query(
            driver,
            database,
            name,
            parameters=dict(map(_parameter, param or [])),
            graph=graph,
            node_labels=node_label,
            relationship_types=relationship_type,
            key=key,
        )
    note(f"Run {result.run.id} of graph {result.run.graph}, p={result.run.p_text}")
    if as_json:
        print_json([dict(zip(result.columns, row, strict=True)) for row in result.rows])
    else:
        print_table(result.columns, result.rows)


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
