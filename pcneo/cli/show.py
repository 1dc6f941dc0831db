"""`pcneo show`: one stored cohesion to look at."""

from __future__ import annotations

import shlex
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pcneo.basics.frames import counted, words
from pcneo.cli.console import connected, exported, note_run, print_json, print_table
from pcneo.cli.options import ExportTo, Json, RunOrGraph
from pcneo.cli.streams import note, say
from pcneo.errors import NotFoundError

if TYPE_CHECKING:
    from pcneo.basics.model import ShownCohesion


MOST_ROWS = 20
"""Members shown on a terminal."""
MOST_KEYS = 20
"""Connections that are not critical, shown on a terminal."""
MOST_ENDS = 6
"""Connections of one member, shown on a terminal."""


def show(
    vertex: Annotated[str, typer.Argument(help="Key of the vertex.")],
    run: RunOrGraph = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Also draw it: .svg, .png, or .html for an interactive picture. An existing file is replaced.",
        ),
    ] = None,
    to: ExportTo = None,
    as_json: Json = False,
) -> None:
    """Show the stored cohesion of one vertex: members, critical connections, and what is outside.

    Without a run, it is taken from the latest run of the whole graph, or of single vertices if there is no other; if
    several graphs have the vertex, name one. With --to, the members and critical connections are also written to a
    file for networkx, Gephi and others.

    Example: pcneo show 58 --plot 58.html
    """
    from pcneo.plots import PAGE_ENDING, check_picture, draw_cohesion, draw_page
    from pcneo.stored.exporting import check_export, export_of
    from pcneo.stored.networks import network_of
    from pcneo.stored.runs import run_or_graph
    from pcneo.stored.showing import plain_cohesion, show_members
    from pcneo.stored.showing import show as show_cohesion

    if plot is not None:
        check_picture(plot, or_page=True)
    if to is not None:
        check_export(to)
    page = plot is not None and plot.suffix.lower() == PAGE_ENDING
    with connected() as db:
        try:
            named = run_or_graph(db, run)
        except NotFoundError as error:
            if vertex.partition("@")[0] not in db.list_graph_names():  # nor the id of a run, such as friends@3/10
                raise
            swapped = f"{error} The vertex comes first: `pcneo show {shlex.join([str(run), vertex])}`."
            raise NotFoundError(swapped, **error.data) from None
        shown = show_cohesion(db, vertex=vertex, **named)
        drawn = draw_page(shown, show_members(db, shown)) if page else None
    if to is not None:
        note(exported(export_of(network_of(shown), to)))
    if plot is not None and drawn is not None:
        drawn.save(plot)
        note(f"Interactive picture of {counted(drawn.opens, 'cohesion')}: {plot}")
    elif plot is not None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            draw_cohesion(shown, plot)
        for warning in caught:
            note(str(warning.message))
        note(f"Picture: {plot}")
    note_run(shown.run, f", p={shown.run.search.p}, search {shown.run.search.name}", moved=shown.moved)
    if as_json:
        print_json(plain_cohesion(shown))
    else:
        _print_shown(shown)


def _print_shown(shown: ShownCohesion) -> None:
    cohesion, view, vertex = shown.cohesion, shown.local_view, shown.cohesion.vertex
    print_table(
        ["", "vertices", "connections", "density"],
        [
            (f"p-cohesion of {vertex}", cohesion.size, cohesion.edges, cohesion.density),
            (f"extended local view of {vertex}", view.size, view.edges, view.density),
        ],
        f"{cohesion.how_small()}.",
    )
    rows = list(zip(*shown.as_columns().values(), strict=True))
    on_terminal = sys.stdout.isatty()
    first = rows[:MOST_ROWS] if on_terminal else rows
    most = MOST_ENDS if on_terminal else None
    print_table(
        ["member", "hops", "critical connections", "to"],
        [(key, hops if hops < 3 else "over 2", count, words(ends, most)) for key, hops, count, ends in first],
        names=["member"],
    )
    if len(first) < len(rows):
        say(f"and {len(rows) - len(first):,} more members; --json lists all")
    others = words(shown.others, MOST_KEYS if on_terminal else None) if shown.others else "none"
    say(f"Connections of {vertex} that are not critical ({len(shown.others):,}): {others}")
