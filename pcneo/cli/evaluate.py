"""`pcneo evaluate`."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pcneo.cli.console import note, print_json
from pcneo.cli.graph import Json

if TYPE_CHECKING:
    from pcneo.evaluate.evaluating import Step

__all__ = ["evaluate"]


def evaluate(
    figure: Annotated[
        list[str],
        typer.Argument(
            help="What to make: datasets, score-density, score-size, view-density, view-size, p-hepth, h-celegans, "
            "all-10, epsilon-usairport, all-5, epsilon1-celegans, p-bitcoin, all-10-k4, epsilon-usairport-k4, losses, "
            "claims, or all."
        ),
    ],
    to: Annotated[Path, typer.Option("--to", help="Folder for figures, data and finished cells.")],
    graphs: Annotated[Path, typer.Option("--graphs", help="Folder with the paper's graphs as edge lists.")],
    largest_p: Annotated[
        float | None, typer.Option("--largest-p", help="Leave out larger p, which cost the most.", min=0, max=1)
    ] = None,
    as_json: Json = False,
) -> None:
    """Make the paper's figures, tables and claims again; what is finished in the folder is not computed twice.

    Noise is simulated, in floating point. Interrupted, the same command goes on where it was.

    Example: pcneo evaluate all --graphs graphs --to evaluation
    """
    from pcneo.evaluate import evaluate as evaluate_figures
    from pcneo.evaluate import graphs_of_folder

    with _told() as tell:
        made = evaluate_figures(
            figure,
            graphs_of_folder(graphs),
            to,
            largest_p=largest_p,
            command=shlex.join(["pcneo", *sys.argv[1:]]),
            progress=tell,
        )
    for path, reason in made.faults:
        note(f"{path} is not used: {reason}")
    if made.absent:
        note(f"Not at hand, and left out: {', '.join(made.absent)}")
    if as_json:
        print_json({"files": made.files, "finished": made.finished, "absent": made.absent, "tables": made.tables})
        return
    for table in made.tables.values():
        print(table)
    note(f"{made.finished:,} cells, {len(made.files)} files in {to}")


@contextmanager
def _told() -> Iterator[Any]:
    """Progress on standard error: a line that moves on a terminal, else a line every half minute."""
    from rich.console import Console
    from rich.status import Status

    console = Console(stderr=True)
    last = 0.0
    with Status("reading the graphs", console=console) as status:

        def tell(step: Step) -> None:
            nonlocal last
            text = f"{step.done:,} of {step.total:,} cells; {step.what}{_left(step.seconds_left)}"
            if console.is_terminal:
                status.update(text)
            elif step.total and time.monotonic() - last > 30:
                last = time.monotonic()
                note(text)

        yield tell


def _left(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"; about {seconds / 60:.0f} min left" if seconds >= 90 else f"; about {seconds:.0f} s left"
