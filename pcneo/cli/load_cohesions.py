"""`pcneo load-cohesions`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pcneo.cli.annotated import print_written
from pcneo.cli.console import Bars, connected, print_json
from pcneo.cli.options import Json

__all__ = ["load_cohesions"]


def load_cohesions(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Parquet files: every part of a graph.")],
    graph: Annotated[
        str | None, typer.Option("--graph", help="Name of the graph.", show_default="the one in the files")
    ] = None,
    create_index: Annotated[
        bool, typer.Option("--create-index", help="Create the index on the key if it is missing.")
    ] = False,
    verify: Annotated[
        int, typer.Option("--verify", metavar="N", min=0, help="Search N vertices of each p again, drawn at random.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Write files of `annotate --format parquet` into the standing runs of their graph, as `annotate` would.

    The graph must still be the one that the files are of. Each cohesion is proved to be a minimal one there;
    that it is the one which a search finds rests on the file. `pcneo runs` and `pcneo check` say so of the run, until
    `pcneo annotate` has searched all of it.

    Example: pcneo load-cohesions parts/*.parquet
    """
    from pcneo.annotate.load_cohesions import load_cohesions as load_files

    with connected() as db, Bars() as bars:
        result = load_files(db, files, graph=graph, create_index=create_index, verify=verify, progress=bars)
    if as_json:
        print_json(result)
    else:
        print_written(result)
