"""Options that several commands share, each with one spelling and one help text, and what a shell completes in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from pcneo.cli.console import choose_server, local_settings, named_settings
from pcneo.errors import PcneoError


def complete_queries(incomplete: str) -> list[tuple[str, str]]:
    """Return the names of queries that begin with this text, with what they ask."""
    from pcneo.stored.queries import list_queries

    return [(query.name, query.summary) for query in list_queries() if query.name.startswith(incomplete)]


def complete_runs(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the ids of runs that begin with this text; none if no database answers."""
    return [name for name in _names(ctx, lambda stored: stored.run.id) if name.startswith(incomplete)]


def complete_graphs(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the names of graphs with runs that begin with this text; none if no database answers."""
    return [name for name in _names(ctx, lambda stored: stored.run.graph) if name.startswith(incomplete)]


def _names(ctx: typer.Context, of: Callable[..., str]) -> list[str]:
    from pcneo.store.connection import connect_to
    from pcneo.stored.runs import list_runs

    choose_server(ctx.find_root().params.get("data"))  # no command runs here, and none has chosen
    try:
        with connect_to(named_settings() or local_settings()) as db:
            return sorted({of(stored) for stored in list_runs(db)})
    except PcneoError:
        return []


NodeLabels = Annotated[
    list[str] | None, typer.Option("--node-label", help="Label of the vertices; may be given several times.")
]
RelationshipTypes = Annotated[
    list[str] | None, typer.Option("--relationship-type", help="Type of the edges; may be given several times.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines: names in camelCase, numbers not rounded.")]
RunOrGraph = Annotated[
    str | None,
    typer.Argument(
        metavar="RUN|GRAPH",
        help="A run's id, the beginning of one, or a graph's name.",
        autocompletion=complete_runs,
    ),
]
ExportTo = Annotated[
    Path | None, typer.Option("--to", help="A new file for other programs, .graphml or .json; only you can read it.")
]


def refuse(options: Mapping[str, object], why: str) -> None:
    """Refuse those of these options that were given: ignored in silence, they would seem to have an effect."""
    if named := given(options):
        raise typer.BadParameter(why, param_hint=named)


def given(options: Mapping[str, object]) -> str:
    """Return the names of the options that were given, separated by commas; empty if none was."""
    return ", ".join(name for name, value in options.items() if not (value is None or value is False or value == []))
