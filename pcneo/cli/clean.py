"""`pcneo clean`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from pcneo.basics.frames import words
from pcneo.basics.visible import visible
from pcneo.cli.console import Bars, connected, note, print_json, say
from pcneo.cli.options import Json
from pcneo.cli.streams import can_ask

if TYPE_CHECKING:
    from pcneo.store.database import Database
    from pcneo.stored.cleaning import CleanResult

__all__ = ["clean"]


def clean(
    run: Annotated[
        str | None, typer.Argument(help="The run to remove: its id, or enough of its beginning to be unique.")
    ] = None,
    version: Annotated[
        int | None, typer.Option("--version", help="Remove this earlier version alone; the run stays.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Remove every run.")] = False,
    as_json: Json = False,
) -> None:
    """Remove stored runs, and properties that their releases wrote; budgets and the ledger stay, and all that is yours.

    Example: pcneo clean --all
    """
    from pcneo.errors import ParameterError
    from pcneo.stored.cleaning import clean as clean_runs
    from pcneo.stored.cleaning import is_unfinished
    from pcneo.stored.runs import find_run
    from pcneo.stored.versions import let_go

    if (run is None) == (not everything):
        raise typer.BadParameter("Name one run, or give --all.", param_hint="RUN")
    if version is not None and run is None:
        raise typer.BadParameter("A version is one of a run; name the run.", param_hint="--version")
    with connected() as db, Bars() as bars:
        is_left = run is not None and version is None and is_unfinished(db, run=run)
        whole = run if run is None or is_left else find_run(db, run=run).run.id
        is_whole = whole == run
        if not (is_whole or can_ask()):
            raise ParameterError(
                f"Nobody is there to be asked: give the whole id of what to remove, {whole}.", name="run", value=run
            )
        if whole is not None and version is not None:
            if not is_whole:
                _confirm(f"Remove version {version} of {whole}?", bars)
            hubs = let_go(db, run=whole, version=version)
            alone = f"Version {version} of {whole} removed, with the cohesions that it alone had: {hubs:,}"
            print_json({"hubs": hubs}) if as_json else say(alone)
            return
        if can_ask():
            _ask(db, whole, bars, surely=not is_whole)
        result = clean_runs(db, run=whole, progress=bars)
    if as_json:
        print_json(result)
    else:
        _print_result(result)


def _ask(db: Database, run: str | None, bars: Bars, *, surely: bool) -> None:
    """Ask whether to remove a run, or all: where releases rest on some, which is said, and otherwise if `surely`."""
    from pcneo.errors import StoreFormatError
    from pcneo.stored.cleaning import runs_relied_on

    relied_on: tuple[str, ...] = ()
    with suppress(StoreFormatError):  # no release rests on what is of another format
        relied_on = runs_relied_on(db, run=run)
    if relied_on:
        bars.rest()
        note(f"{_resting(relied_on)}.")
    elif not surely:
        return
    _confirm(f"Remove {run or 'all runs'}, with all versions?", bars)


def _confirm(question: str, bars: Bars) -> None:
    bars.rest()
    typer.confirm(visible(question), abort=True, err=True)


def _resting(runs: Sequence[str]) -> str:
    return (
        f"Releases rest on {len(runs):,} of these runs ({words(list(runs), 12)}): the ledger keeps them, but once the "
        "graph has changed no later release can use the same groups again"
    )


def _print_result(result: CleanResult) -> None:
    named = f" ({words(list(result.runs), 12)})" if result.runs else ""
    say(f"Runs removed, each with all its versions: {len(result.runs):,}{named}")
    say(f"Cohesions removed: {result.hubs:,}")
    if result.relied_on:
        say(_resting(result.relied_on))
    if result.earlier_runs:
        say(f"Runs of an earlier pcneo removed: {result.earlier_runs:,}")
    for name in result.properties:
        say(f"Property removed that a release had written: {name}")
    if result.answered_requests:
        say(f"Answered requests removed: {result.answered_requests:,}")
    for name in result.kept_properties:
        note(f"The property {name} stays: not all of its values are those of a release any more.")
    say("What stays: budgets and the ledger of releases (`pcneo budget show`), and all that is yours")
