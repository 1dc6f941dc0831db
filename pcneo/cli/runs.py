"""`pcneo runs`."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pcneo.cli.check import print_verified
from pcneo.cli.completion import complete_graphs
from pcneo.cli.console import Bars, connected, note, print_json, print_table, say
from pcneo.cli.options import Json
from pcneo.errors import GraphChangedError

if TYPE_CHECKING:
    from pcneo.basics.model import RunRecord
    from pcneo.stored.runs import StoredRun
    from pcneo.stored.versions import Difference

__all__ = ["runs"]


def runs(
    run: Annotated[
        str | None,
        typer.Argument(help="Only the run of this id, those whose ids begin so, or those of the graph of this name."),
    ] = None,
    graph: Annotated[
        str | None, typer.Option("--graph", help="Only the runs of this graph.", autocompletion=complete_graphs)
    ] = None,
    verify: Annotated[bool, typer.Option("--verify", hidden=True)] = False,
    history: Annotated[bool, typer.Option("--history", help="List versions, oldest first.")] = False,
    diff: Annotated[
        tuple[int, int] | None,
        typer.Option("--diff", metavar="V1 V2", help="List the vertices whose cohesions differ between two versions."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the standing runs, and whether the graph's numbers of vertices and connections have moved since.

    `pcneo check` compares the graphs themselves.

    Example: pcneo runs --history
    """
    from pcneo.stored import runs as standing
    from pcneo.stored import verifying, versions

    if sum([verify, history, diff is not None]) > 1:
        raise typer.BadParameter("Ask for one of them.", param_hint="--history, --diff")
    if verify and graph is not None:
        raise typer.BadParameter("`pcneo check --graph` compares the runs of one graph.", param_hint="--graph")
    verified = []
    with connected() as db, Bars() as bars:
        if verify:
            note("`pcneo check` does this and more; --verify goes away in 0.4.")
            verified = verifying.verify(db, run=run, progress=bars)
            show = partial(print_json if as_json else print_verified, verified)
        elif history:
            show = partial(print_json if as_json else _print_history, versions.history(db, run=run, graph=graph))
        elif diff:
            differences = versions.diff(db, run=run, graph=graph, before=diff[0], after=diff[1])
            show = partial(print_json if as_json else _print_differences, differences)
        else:
            stored = standing.list_runs(db, run=run, graph=graph)
            show = partial(print_json, stored) if as_json else partial(_print_runs, stored, graph)
    show()
    if any(compared.has_changed for compared in verified):
        raise typer.Exit(GraphChangedError.exit_code)


def _print_runs(runs: list[StoredRun], graph: str | None) -> None:
    if not runs:
        say(f"No run {'' if graph is None else f'of {graph} '}is stored; `pcneo annotate` makes one.")
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
        note(f"{run.id} was loaded from files; `pcneo annotate --graph {shlex.quote(run.graph)}` searches it.")


def _moved(stored: StoredRun) -> str:
    """Say what has moved: by how many nodes and relationships the graph has more or fewer."""
    changes = {"nodes": stored.nodes_more, "relationships": stored.relationships_more}
    return ", ".join(f"{number:+,} {what}" for what, number in changes.items() if number)


def _print_history(versions: list[RunRecord]) -> None:
    columns = ("run", "version", "new", "gone", "cohesions", "memberships", "finished", "replaced", "kept")
    names = ("id", "version", "added", "retired", "cohesions", "memberships", "finished_at", "replaced_at", "readable")
    print_table(columns, [[getattr(version, name) for name in names] for version in versions], names=["version"])


def _print_differences(differences: list[Difference]) -> None:
    columns = ("vertex", "members before", "after", "connections before", "after", "joined", "left")
    print_table(columns, [_difference_row(difference) for difference in differences], names=["vertex"])
    say("1 cohesion differs" if len(differences) == 1 else f"{len(differences):,} cohesions differ")


def _difference_row(difference: Difference) -> list[Any]:
    before, after = difference.before, difference.after
    was, now = set(before.members if before else ()), set(after.members if after else ())
    return [
        difference.vertex,
        before and len(before.members),
        after and len(after.members),
        before and before.edges,
        after and after.edges,
        sorted(now - was),
        sorted(was - now),
    ]
