"""`pcneo runs`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from pcneo.cli.console import Bars, connected, print_json, print_table
from pcneo.cli.options import Json
from pcneo.errors import GraphChangedError

if TYPE_CHECKING:
    from pcneo.stored.runs import StoredRun, VerifiedRun

__all__ = ["runs"]


def runs(
    run: Annotated[str | None, typer.Argument(help="With --verify: only this run.")] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Read everything again and compare fingerprints.")] = False,
    as_json: Json = False,
) -> None:
    """Show what is stored, and whether the graph has moved since; with --verify, the exit code is 4 where it has.

    Example: pcneo runs --verify
    """
    from pcneo.stored.runs import list_runs
    from pcneo.stored.runs import verify as verify_runs

    if run is not None and not verify:
        raise typer.BadParameter("A run is named with --verify only.", param_hint="RUN")
    with connected() as (driver, database), Bars() as bars:
        if verify:
            verified = verify_runs(driver, database, run=run, progress=bars)
            show = partial(print_json if as_json else _print_verified, verified)
        else:
            verified = []
            show = partial(print_json if as_json else _print_runs, list_runs(driver, database))
    show()
    if any(False in (run.graph_same, run.memberships_same) for run in verified):
        raise typer.Exit(GraphChangedError.exit_code)


def _print_runs(runs: list[StoredRun]) -> None:
    columns = ("run", "graph", "scope", "p", "score", "status", "vertices", "edges", "memberships", "finished", "moved")
    names = ("id", "graph", "scope", "p_text", "score", "status", "vertices", "edges", "memberships", "finished_at")
    print_table(columns, [[*(getattr(stored.run, name) for name in names), stored.moved] for stored in runs])


def _print_verified(runs: list[VerifiedRun]) -> None:
    print_table(
        ("run", "graph", "p", "score", "graph as read", "memberships as written"),
        [
            (v.run.id, v.run.graph, v.run.p_text, v.run.score, _verdict(v.graph_same), _verdict(v.memberships_same))
            for v in runs
        ],
    )


def _verdict(same: bool | None) -> str:
    return "no fingerprint: a run of single vertices" if same is None else "same" if same else "CHANGED"
