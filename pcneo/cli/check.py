"""`pcneo check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pcneo.cli.console import Bars, connected, print_json, print_table
from pcneo.cli.options import Json, RunOrGraph
from pcneo.cli.streams import note, say, say_verbatim
from pcneo.errors import GraphChangedError

if TYPE_CHECKING:
    from pcneo.release.checking import Checked
    from pcneo.store.database import Database


def check(
    run: RunOrGraph = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the schema statements that pcneo needs, without a database.")
    ] = False,
    drop: Annotated[bool, typer.Option("--drop", help="With --schema: print the statements that undo them.")] = False,
    node_label: Annotated[
        list[str] | None, typer.Option("--node-label", help="With --schema: label of the vertices, once or more.")
    ] = None,
    key: Annotated[str | None, typer.Option("--key", help="With --schema: property that holds the key.")] = None,
    as_json: Json = False,
) -> None:
    """Read everything that is stored and report what is wrong; nothing is changed.

    With a graph's name, it reads the graph's runs and its part of the ledger; with a run, that run without the ledger.
    With --schema it prints statements instead, for an administrator to run once.

    The exit code is 4 if the graph has changed since a run was written, if memberships have changed, or if there is any
    other fault.

    Example: pcneo check
    """
    if schema:
        if run is not None or as_json:
            raise typer.BadParameter("It goes only with --drop, --node-label and --key.", param_hint="--schema")
        from pcneo.store.chosen_graph import schema_statements

        for statement in schema_statements(node_label or (), key, drop=drop):
            say_verbatim(statement)
        return
    if drop or node_label or key is not None:
        raise typer.BadParameter("They need --schema.", param_hint="--drop, --node-label, --key")
    from pcneo.release.checking import check as look
    from pcneo.stored.runs import run_or_graph

    with connected() as db, Bars() as bars:
        checked = look(db, **run_or_graph(db, run), progress=bars)
        is_empty = run is None and not checked.runs and not checked.findings and _is_empty(db)
    if is_empty and not as_json:
        say("pcneo has stored nothing here.")
        return
    print_json(checked) if as_json else _print(checked)
    if not checked.all_well:
        raise typer.Exit(GraphChangedError.exit_code)


def _is_empty(db: Database) -> bool:
    """Whether pcneo has stored nothing here; constraints and indexes do not count."""
    from pcneo.stored.cleaning import everything

    there = everything(db)
    return not (there.hubs or there.runs or there.requests or there.graphs or there.fences or there.ledger)


def _print(checked: Checked) -> None:
    if checked.runs:
        rows = [
            (run.run.id, run.run.version, _verdict(run.graph_same), _verdict(run.memberships_same))
            for run in checked.runs
        ]
        print_table(("run", "version", "graph as read", "memberships as written"), rows, names=["version"])
    if checked.findings:
        rows = [("FAULT" if finding.is_fault else "note", finding.about, finding.what) for finding in checked.findings]
        print_table(("", "about", "what was found"), rows)
    elif checked.all_well:
        say("Nothing is wrong.")
    if any(compared.graph_same is False for compared in checked.runs):
        note("A graph has changed since its run was written; `pcneo annotate --graph NAME` brings its runs up to date.")


def _verdict(same: bool | None) -> str:
    return "not compared: a run of single vertices" if same is None else "same" if same else "CHANGED"
