"""`pcneo export`: a run or one cohesion as a file for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pcneo.cli.console import Bars, connected, note, print_json, say
from pcneo.cli.options import GraphName, Json, RunName, RunP, RunSearch

__all__ = ["export"]


def export(
    what: Annotated[
        str,
        typer.Argument(
            metavar="RUN|VERTEX",
            help="A run (its id, or latest; -p says which of several), or a vertex's key.",
        ),
    ],
    file: Annotated[Path | None, typer.Argument(help="As --to, which replaces it.", show_default=False)] = None,
    to: Annotated[Path | None, typer.Option("--to", help="A new file, .graphml or .json.")] = None,
    run: RunName = None,
    graph: GraphName = None,
    p: RunP = None,
    search: RunSearch = None,
    as_json: Json = False,
) -> None:
    """Write a run, or one cohesion, to a file for networkx, Gephi and others.

    A run is the whole graph: each vertex with its members, each edge with the number of cohesions it is critical in.

    Example: pcneo export latest --to run.json
    """
    from rich.filesize import decimal

    from pcneo.stored.exporting import export as export_file

    path = to or file
    if path is None or (to and file):
        raise typer.BadParameter("Name one new file, such as --to run.json.", param_hint="--to")
    if file is not None:
        note("The file is named by --to, as elsewhere; without --to it goes away in 0.4.")
    with connected() as db, Bars() as bars:
        result = export_file(db, what=what, path=path, run=run, graph=graph, p=p, search=search, progress=bars)
    if as_json:
        print_json(result)
    else:
        say(
            f"{result.path}: {result.nodes:,} nodes, {result.edges:,} edges, {result.memberships:,} memberships, "
            f"{decimal(result.bytes)}"
        )
