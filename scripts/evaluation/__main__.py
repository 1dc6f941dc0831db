"""The command line of the evaluation, run as `scripts/evaluate`."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pcneo.cli.annotate import Json
from pcneo.cli.console import camel, connected, note, print_json
from pcneo.errors import ParameterError

if TYPE_CHECKING:
    from evaluation.missing_cells import Step

__all__ = ["as_called", "evaluate"]


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
    graphs: Annotated[
        Path | None, typer.Option("--graphs", help="Folder with the paper's graphs as edge lists.", show_default=False)
    ] = None,
    stored: Annotated[
        list[str] | None,
        typer.Option(
            "--stored",
            help="A graph of the database instead, such as Celegans=NAME: sets are read from its runs. Repeatable.",
        ),
    ] = None,
    largest_p: Annotated[
        float | None, typer.Option("--largest-p", help="Leave out larger p, which cost the most.", min=0, max=1)
    ] = None,
    as_json: Json = False,
) -> None:
    """Make the paper's figures, tables and claims again; what is finished in the folder is not computed twice.

    Noise is simulated, in floating point. Interrupted, the same command goes on where it was. Of stored graphs, cells
    whose p has no complete run are left out, and those of samples.

    Example: scripts/evaluate all --graphs graphs --to evaluation
    """
    from evaluation import check_targets, graphs_of_folder
    from evaluation import evaluate as evaluate_figures

    check_targets(figure)
    if (graphs is None) == (not stored):
        raise ParameterError("Name a folder with --graphs, or graphs of the database with --stored.", name="graphs")
    pairs = _pairs(stored or [])
    given: dict[str, Any] = {"largest_p": largest_p, "command": as_called(figure, to, graphs, stored, largest_p)}
    with ExitStack() as opened:
        if graphs is not None:
            at_hand = graphs_of_folder(graphs, figure)
        else:
            from evaluation.stored_graphs import StoredGraphs

            driver, database = opened.enter_context(connected())
            read = StoredGraphs(driver, database, pairs)
            at_hand = read.graphs
            given |= {"stored": read.cohesions, "memberships": read.memberships}
        given["progress"] = opened.enter_context(_told())
        made = evaluate_figures(figure, at_hand, to, **given)
    for path, reason in made.faults:
        note(f"{path} is not used: {reason}")
    if made.absent:
        note(f"Not at hand, and left out: {', '.join(made.absent)}")
    if as_json:
        print_json(
            {
                "files": made.files,
                "finished": made.finished,
                "refused": [
                    {**{camel(name): value for name, value in cell.parameters.items()}, "reason": reason}
                    for cell, reason in made.refused
                ],
                "faults": [{"file": path, "reason": reason} for path, reason in made.faults],
                "absent": made.absent,
                "tables": made.tables,
            }
        )
        return
    for table in made.tables.values():
        print(table)
    note(f"{made.finished:,} cells, {len(made.files)} files in {to}")


def as_called(
    figure: Sequence[str], to: Path, graphs: Path | None, stored: Sequence[str] | None, largest_p: float | None
) -> str:
    """Return the command as a report may name it: folders by their last part, nothing else of this machine."""
    words = ["scripts/evaluate", *figure]
    if graphs is not None:
        words += ["--graphs", graphs.resolve().name]
    for each in stored or ():
        words += ["--stored", each]
    words += ["--to", to.resolve().name]
    if largest_p is not None:
        words += ["--largest-p", f"{largest_p:g}"]
    return shlex.join(words)


def _pairs(stored: Sequence[str]) -> dict[str, str]:
    """Read DATASET=NAME."""
    pairs = dict(pair.split("=", 1) for pair in stored if "=" in pair)
    if len(pairs) != len(stored):
        raise ParameterError(
            "--stored takes a dataset and a graph's name, such as Celegans=NAME, each dataset once.",
            name="stored",
            value=stored,
        )
    return pairs


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


def _left(seconds: float) -> str:
    return f"; about {seconds / 60:.0f} min left" if seconds >= 90 else f"; about {seconds:.0f} s left"


if __name__ == "__main__":
    typer.run(evaluate)
