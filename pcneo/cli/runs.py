"""`pcneo runs`."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pcneo.basics.frames import counted, words
from pcneo.cli.console import Bars, connected, exported, print_json, print_table
from pcneo.cli.options import ExportTo, Json, RunOrGraph
from pcneo.cli.streams import note, say
from pcneo.errors import ParameterError

if TYPE_CHECKING:
    from pcneo.basics.run_record import RunRecord
    from pcneo.stored.runs import StoredRun
    from pcneo.stored.versions import Difference


MOST_ROWS = 50
"""Differences shown on a terminal."""
MOST_KEYS = 10
"""Members shown that joined or left, per difference."""


def runs(
    run: RunOrGraph = None,
    history: Annotated[bool, typer.Option("--history", help="List versions, oldest first.")] = False,
    diff: Annotated[
        tuple[str, str] | None,
        typer.Option("--diff", metavar="V1 V2", help="List the vertices whose cohesions differ between two versions."),
    ] = None,
    to: ExportTo = None,
    as_json: Json = False,
) -> None:
    """Show the standing runs, and whether their graphs have gained or lost vertices or connections since.

    `pcneo check` compares the graphs themselves.

    With --to, one run is written to a file for networkx, Gephi and others, as the whole graph: each vertex with its
    members, each edge with the number of cohesions that it is critical in. Without a name, it is the latest run.

    Example: pcneo runs --history
    """
    from pcneo.stored import exporting, versions
    from pcneo.stored import runs as standing

    if sum([history, diff is not None, to is not None]) > 1:
        raise typer.BadParameter("Give only one of them.", param_hint="--history, --diff, --to")
    if to is not None:
        exporting.check_export(to)
    two = None if diff is None else _versions(diff)
    with connected() as db, Bars() as bars:
        if to is not None:
            written = exporting.export_run(db, to, **standing.run_or_graph(db, run), progress=bars)
            show = partial(print_json, written) if as_json else partial(say, exported(written))
        elif history:
            show = partial(print_json if as_json else _print_history, versions.history(db, run=run))
        elif two:
            differences = versions.diff(db, **standing.run_or_graph(db, run), before=two[0], after=two[1])
            show = partial(print_json if as_json else _print_differences, differences)
        else:
            show = partial(print_json if as_json else _print_runs, standing.list_runs(db, run=run))
    show()


def _versions(named: tuple[str, str]) -> tuple[int, int]:
    """Return the numbers of two versions; people also name two runs here."""
    try:
        before, after = map(int, named)
    except ValueError:
        raise ParameterError(
            "--diff compares two versions of one run, by their numbers, such as `pcneo runs friends@3/10 --diff 1 2`. "
            "To compare two runs, compare their data frames in Python (`to_pandas`).",
            name="diff",
            value=named,
        ) from None
    return before, after


_NONE = "No run is stored. To create one, run `pcneo annotate`."


def _print_runs(runs: list[StoredRun]) -> None:
    if not runs:
        say(_NONE)
        return
    columns = ("run", "version", "scope", "p", "search", "cohesions", "memberships", "finished", "moved")
    rows = [
        [
            *(run.id, run.version, run.scope, str(run.search.p), run.search.name),
            *(run.cohesions, run.memberships, run.finished_at, _moved(stored)),
        ]
        for stored in runs
        for run in [stored.run]
    ]
    print_table(columns, rows, names=["version"])
    for run in [stored.run for stored in runs if stored.run.from_files]:
        note(f"{run.id} was loaded from files; `pcneo annotate --graph {shlex.quote(run.graph)}` searches it again.")


def _moved(stored: StoredRun) -> str:
    """Return by how many nodes and relationships the graph has grown or shrunk."""
    changes = {"nodes": stored.nodes_more, "relationships": stored.relationships_more}
    return ", ".join(f"{number:+,} {what}" for what, number in changes.items() if number) or "no"


def _print_history(versions: list[RunRecord]) -> None:
    if not versions:
        say(_NONE)
        return
    columns = ("run", "version", "new", "gone", "cohesions", "memberships", "finished", "replaced", "kept")
    names = ("id", "version", "added", "retired", "cohesions", "memberships", "finished_at", "replaced_at", "readable")
    rows = [[getattr(version, name) for name in names] for version in versions]
    for row in rows:
        row[names.index("replaced_at")] = row[names.index("replaced_at")] or "current"
    print_table(columns, rows, names=["version"])


def _print_differences(differences: list[Difference]) -> None:
    say(counted(len(differences), "cohesion differs", "cohesions differ"))
    if not differences:
        return
    columns = ("vertex", "members", "connections", "joined", "left")
    first = differences[:MOST_ROWS] if sys.stdout.isatty() else differences
    print_table(columns, [_difference_row(difference) for difference in first], names=["vertex"])
    if len(first) < len(differences):
        say(f"and {len(differences) - len(first):,} more; --json lists all")
    uncertain = sum(not difference.is_certain for difference in differences)
    if uncertain:
        note(
            f"`best` is false for {uncertain:,} of those with other members: there, the earlier cohesion may still be "
            "as good as the new one."
        )


def _difference_row(difference: Difference) -> list[Any]:
    before, after = difference.before, difference.after
    return [
        difference.vertex,
        _before_and_after(before and len(before.members), after and len(after.members)),
        _before_and_after(before and before.edges, after and after.edges),
        words(difference.came, MOST_KEYS),
        words(difference.went, MOST_KEYS),
    ]


def _before_and_after(before: int | None, after: int | None) -> str:
    was, now = ("none" if number is None else f"{number:,}" for number in (before, after))
    return f"{was} to {now}"
