"""`pcneo queries`, `pcneo runs`, `pcneo clean` and `pcneo schema`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pcneo.cli.annotate import Json, NodeLabels, RelationshipTypes
from pcneo.cli.console import Bars, connected, note, print_json, print_table
from pcneo.errors import GraphChangedError, ParameterError

if TYPE_CHECKING:
    from pcneo.stored.runs import StoredRun, VerifiedRun

__all__ = ["clean", "queries", "runs", "schema"]


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
        _say_unnamed({"--node-label": node_label, "--relationship-type": relationship_type, "--key": key})
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


def _say_unnamed(given: dict[str, object]) -> None:
    """Where some names of the user's are put in and others not, the query may fit no database."""
    left = [option for option, value in given.items() if not value]
    if 0 < len(left) < len(given):
        note(f"Not given, so that the sample's name stands there: {', '.join(left)}")


def _parameter(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ParameterError(f"--param {text!r} must look like NAME=VALUE.", name="param", value=text)
    return name, int(value) if name == "limit" and value.isascii() and value.isdigit() else value


def runs(
    run: Annotated[str | None, typer.Argument(help="With --verify: only this run.")] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Read everything again and compare fingerprints.")] = False,
    as_json: Json = False,
) -> None:
    """Show what is stored, and whether the graph has moved since; with --verify, the exit code is 4 where it has.

    Example: pcneo runs --verify
    """
    from pcneo.stored.runs import list_runs
    from pcneo.stored.runs import verify as verify_runs

    if run is not None and not verify:
        raise typer.BadParameter("A run is named with --verify only.", param_hint="RUN")
    with connected() as (driver, database), Bars() as bars:
        if verify:
            verified = verify_runs(driver, database, run=run, progress=bars)
            show = partial(print_json if as_json else _print_verified, verified)
        else:
            verified = []
            show = partial(print_json if as_json else _print_runs, list_runs(driver, database))
    show()
    if any(False in (each.graph_same, each.memberships_same) for each in verified):
        raise typer.Exit(GraphChangedError.exit_code)


def _print_runs(runs: list[StoredRun]) -> None:
    columns = ("run", "graph", "scope", "p", "score", "status", "vertices", "edges", "memberships", "finished", "moved")
    names = ("id", "graph", "scope", "p_text", "score", "status", "vertices", "edges", "memberships", "finished_at")
    print_table(columns, [[*(getattr(each.run, name) for name in names), each.moved] for each in runs])


def _print_verified(runs: list[VerifiedRun]) -> None:
    print_table(
        ("run", "graph", "p", "score", "graph as read", "memberships as written"),
        [
            (v.run.id, v.run.graph, v.run.p_text, v.run.score, _verdict(v.graph_same), _verdict(v.memberships_same))
            for v in runs
        ],
    )


def _verdict(same: bool | None) -> str:
    return "no fingerprint: a run of single vertices" if same is None else "same" if same else "CHANGED"


def clean(
    run: Annotated[str | None, typer.Argument(help="The run to remove.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Remove every run.")] = False,
    as_json: Json = False,
) -> None:
    """Remove stored runs, and properties that their releases wrote; budgets and the ledger stay, and all that is yours.

    Example: pcneo clean --all
    """
    from pcneo.stored.runs import clean as clean_runs

    if (run is None) == (not everything):
        raise typer.BadParameter("Name one run, or give --all.", param_hint="RUN")
    with connected() as (driver, database), Bars() as bars:
        result = clean_runs(driver, database, run=run, progress=bars)
    if as_json:
        print_json(result)
    else:
        print(f"runs removed: {len(result.runs)}, cohesions: {result.hubs:,}")
        for name in result.properties:
            print(f"removed the property {name} that a release had written")
        for name in result.kept_properties:
            note(f"The property {name} stays: not all of its values are those of a release any more.")


def schema(
    node_label: NodeLabels = None,
    key: Annotated[str | None, typer.Option("--key", help="Property that holds the key.")] = None,
) -> None:
    """Print the schema statements that `annotate` needs, for an administrator to run once; nothing is run here.

    Example: pcneo schema --node-label Person --key id
    """
    from pcneo.store.chosen_graph import schema_statements

    for statement in schema_statements(node_label or (), key):
        print(statement)
