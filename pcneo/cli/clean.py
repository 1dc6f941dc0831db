"""`pcneo clean`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from pcneo.basics.frames import counted, words
from pcneo.basics.visible import visible
from pcneo.cli.console import Bars, connected, note_kept, print_json
from pcneo.cli.options import Json
from pcneo.cli.streams import can_ask, note, say
from pcneo.errors import ParameterError

if TYPE_CHECKING:
    from pcneo.basics.run_record import WholeId
    from pcneo.store.database import Database
    from pcneo.stored.cleaning import CleanResult, Everything


def clean(
    run: Annotated[
        str | None, typer.Argument(help="The run to remove: its id, or enough of its beginning to be unique.")
    ] = None,
    version: Annotated[
        int | None, typer.Option("--version", help="Remove only this earlier version; the run stays.")
    ] = None,
    all_runs: Annotated[bool, typer.Option("--all", help="Remove every run, and answered requests.")] = False,
    everything: Annotated[
        bool,
        typer.Option(
            "--everything",
            help="Uninstall: also remove requests, and names, fences, constraints and indexes that no ledger needs.",
        ),
    ] = False,
    ledger: Annotated[
        bool,
        typer.Option(
            "--ledger", help="With --everything: also remove the ledger of releases, which is kept otherwise."
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be removed, and remove nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Remove stored runs, and properties that their releases wrote. Budgets, the ledger and your own data stay.

    At a terminal it shows what it will remove, and asks first; without one, --all, --everything and a version that a
    release rests on need --yes, and any other run or version is removed at once. `pcneo budget show` lists who removed
    what.

    Example: pcneo clean --all
    """
    if [run is not None, all_runs, everything].count(True) != 1:
        raise typer.BadParameter("Name one run, or give --all or --everything.", param_hint="RUN")
    if version is not None and run is None:
        raise typer.BadParameter("Name the run whose version it is.", param_hint="--version")
    if ledger and not everything:
        raise typer.BadParameter(
            "It needs --everything; for one graph there is `pcneo budget forget`.", param_hint="--ledger"
        )
    with connected() as db, Bars() as bars:
        if everything:
            print_result = _uninstall(db, bars, ledger=ledger, dry_run=dry_run, yes=yes, as_json=as_json)
        elif version is not None and run is not None:
            print_result = _let_go(db, bars, run, version, dry_run=dry_run, yes=yes, as_json=as_json)
        else:
            print_result = _clean(db, bars, run, dry_run=dry_run, yes=yes, as_json=as_json)
    print_result()  # once the bars have stopped


_Printing = Callable[[], None]


def _clean(db: Database, bars: Bars, run: str | None, *, dry_run: bool, yes: bool, as_json: bool) -> _Printing:
    from pcneo.stored.cleaning import clean as clean_runs

    whole = None if run is None else _whole_id(db, run, dry_run=dry_run, yes=yes)
    if dry_run or (can_ask() and not yes):
        planned = clean_runs(db, run=whole, dry_run=True)
        if dry_run:
            return partial(print_json, planned) if as_json else partial(say, _planned(planned))
        bars.rest()
        note(_planned(planned))
        _confirm(f"Remove {whole or 'all runs'}, with all versions?", bars)
    elif whole is None and not yes:
        raise _nobody_to_ask("all runs")
    result = clean_runs(db, run=whole, progress=bars)
    return partial(print_json if as_json else _print_result, result)


def _whole_id(db: Database, run: str, *, dry_run: bool, yes: bool) -> WholeId:
    """Return the whole id of a run; if it is to be removed and nobody is asked, it must be given whole.

    It still means only this run if that is removed while a person is asked.
    """
    from pcneo.basics.run_record import WholeId
    from pcneo.stored.runs import id_and_graph, unfinished_runs

    whole = run if run in unfinished_runs(db, db.list_graphs()) else id_and_graph(db, run)[0]
    if whole != run and not dry_run and (yes or not can_ask()):
        raise ParameterError(
            f"Nobody is asked for confirmation here; give the whole id of what to remove, {whole}.",
            name="run",
            value=run,
        )
    return WholeId(whole)


def _let_go(db: Database, bars: Bars, run: str, version: int, *, dry_run: bool, yes: bool, as_json: bool) -> _Printing:
    from pcneo.store.ledger import releases_on
    from pcneo.stored.versions import check_earlier, let_go

    whole = _whole_id(db, run, dry_run=dry_run, yes=yes)
    check_earlier(db, run=whole, version=version)
    resting = releases_on(db, whole, version)
    warning = f"Its groups cannot be made again, and releases rest on them: {words(resting, 6)}. " if resting else ""
    if dry_run:
        planned = f"Version {version} of {whole} would be removed, with the cohesions that it alone has. {warning}"
        as_data = {"run": whole, "version": version, "releases": resting}
        return partial(print_json, as_data) if as_json else partial(say, planned.rstrip())
    if can_ask() and not yes:
        _confirm(f"{warning}Remove version {version} of {whole}?", bars)
    elif resting and not yes:
        raise ParameterError(f"Version {version} of {whole}: {warning}Add --yes to remove it.", name="yes", value=None)
    hubs = let_go(db, run=whole, version=version)
    alone = f"Version {version} of {whole} removed, with the cohesions that it alone had: {hubs:,}"
    return partial(print_json, {"hubs": hubs}) if as_json else partial(say, alone)


def _uninstall(db: Database, bars: Bars, *, ledger: bool, dry_run: bool, yes: bool, as_json: bool) -> _Printing:
    from pcneo.stored.cleaning import everything, services_at_work, uninstall

    there = everything(db)
    if dry_run:
        if running := services_at_work(db):
            note(running)
        return partial(print_json, there) if as_json else partial(say, _everything(there, ledger=ledger))
    if not yes:
        if not can_ask():
            raise _nobody_to_ask("everything")
        bars.rest()
        note(_everything(there, ledger=ledger))
        _confirm("Remove everything that pcneo has stored in this database?", bars)
        if ledger and there.ledger:
            _confirm("Nothing will then count what these releases have spent. Remove the ledger, too?", bars)
    result, left = uninstall(db, ledger=ledger, progress=bars)
    if as_json:
        properties = {"properties": result.properties, "keptProperties": result.kept_properties}
        return partial(print_json, {"removed": there.without(left), "left": left, **properties})
    return partial(_print_uninstalled, result, left)


def _print_uninstalled(result: CleanResult, left: Everything) -> None:
    for line in _property_lines(result, "removed", "had"):
        say(line)
    note_kept(result.kept_properties)
    stays = ["what releases wrote into properties that someone has changed since"] if result.kept_properties else []
    if left.ledger:
        stays.append(
            f"the ledger, {_ledger(left)}, and the names, fences, constraints and indexes that it needs "
            "(`--ledger` removes these, too)"
        )
    if stays:
        say(f"All of pcneo's data has been removed except {', and '.join(stays)}.")
    else:
        say("All of pcneo's data has been removed. Your nodes, relationships and properties are as they were.")


def _everything(there: Everything, *, ledger: bool) -> str:
    lines = [
        f"Runs: {there.runs:,}, with {there.hubs:,} cohesions and {there.memberships:,} memberships",
        f"Requests: {there.requests:,}",
        f"Names of graphs: {there.graphs:,}, with {there.fences:,} fences (nodes that writers lock)",
        f"Constraints and indexes: {len(there.schema):,} ({words(list(there.schema), 20)})",
    ]
    if there.ledger and ledger:
        lines.append(f"The ledger: {_ledger(there)}")
    elif there.ledger:
        lines.append(f"What stays: the ledger, {_ledger(there)}; --ledger removes it, too")
    lines.append("Never removed: your nodes and relationships, and files that were published")
    return "\n".join(lines)


def _ledger(there: Everything) -> str:
    return f"{counted(there.ledger, 'record')} of {words(list(there.ledger_graphs), 12) or 'no graph'}"


def _nobody_to_ask(what: str) -> ParameterError:
    return ParameterError(
        f"There is no terminal to ask for confirmation; add --yes to remove {what}.", name="yes", value=None
    )


def _confirm(question: str, bars: Bars) -> None:
    bars.rest()
    typer.confirm(visible(question), abort=True, err=True)


def _planned(result: CleanResult) -> str:
    return "\n".join(_lines(result, "to be removed", "has"))


def _print_result(result: CleanResult) -> None:
    say("\n".join(_lines(result, "removed", "had")))
    note_kept(result.kept_properties)
    say("What stays: budgets and the ledger of releases (`pcneo budget show`), and your own data")


def _lines(result: CleanResult, removed: str, had: str) -> list[str]:
    """Return what is removed, or to be removed, line by line."""
    named = f" ({words(list(result.runs), 12)})" if result.runs else ""
    lines = [f"Runs {removed}, each with all its versions: {len(result.runs):,}{named}"]
    lines.append(f"Cohesions {removed}: {result.hubs:,}")
    if result.relied_on:
        lines.append(
            f"Releases rest on {len(result.relied_on):,} of these runs ({words(list(result.relied_on), 12)}): the "
            "ledger keeps them, but once the graph has changed no later release can use the same groups again"
        )
    if result.earlier_runs:
        lines.append(f"Runs of an earlier pcneo {removed}: {result.earlier_runs:,}")
    lines += _property_lines(result, removed, had)
    if result.answered_requests:
        lines.append(f"Answered requests {removed}: {result.answered_requests:,}")
    return lines


def _property_lines(result: CleanResult, removed: str, had: str) -> list[str]:
    return [f"Property {removed} that a release {had} written: {name}" for name in result.properties]
