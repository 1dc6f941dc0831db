"""`pcneo clean`."""

from __future__ import annotations

from typing import Annotated

import typer

from pcneo.cli.console import Bars, connected, note, print_json, say
from pcneo.cli.options import Json

__all__ = ["clean"]


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
        say(f"runs removed: {len(result.runs)}, cohesions: {result.hubs:,}")
        for name in result.properties:
            say(f"removed the property {name} that a release had written")
        for name in result.kept_properties:
            note(f"The property {name} stays: not all of its values are those of a release any more.")
