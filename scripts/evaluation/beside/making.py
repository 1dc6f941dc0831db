"""Makes the table: checks what is asked for, computes what is not finished, writes text, picture and numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from evaluation.beside.beside_picture import draw_beside
from evaluation.beside.beside_text import beside_csv, beside_text, cells_of, rows_of
from evaluation.beside.compared_graphs import graphs_at_hand
from evaluation.beside.papers import EPSILONS, MECHANISMS
from evaluation.beside.simulated_runs import made
from evaluation.missing_cells import Step, finish
from evaluation.results_folder import ResultsFolder
from pcneo.basics.whole_file import whole_file
from pcneo.errors import ParameterError
from pcneo.privacy.randomised_response import check_epsilon

__all__ = ["make_beside"]


def make_beside(
    folder: Path,
    to: Path,
    command: str,
    *,
    names: Sequence[str] = (),
    mechanisms: Sequence[str] = (),
    epsilons: Sequence[str] = (),
    progress: Callable[[Step], None] | None = None,
) -> int:
    """Make the table, or some rows of it; what is finished in the folder is not computed again.

    Args:
        folder: with edge lists.
        to: folder for `beside.md`, `beside.svg`, `beside.csv` and finished cells; made if it is not there.
        command: as the report names it.
        names: of graphs; all of `GRAPHS` that the folder has if empty.
        mechanisms, epsilons: all if empty.
        progress: called with each step.

    Returns:
        How many cells the table has.

    Raises:
        ParameterError: there is no such mechanism or folder, or an ε is out of range.
        GraphError: a graph is not there, is another one, or has nothing to compare. Nothing is written then.
        FileFormatError: a file cannot be read as a graph.
    """
    mechanisms, epsilons = list(dict.fromkeys(mechanisms or MECHANISMS)), list(dict.fromkeys(epsilons or EPSILONS))
    for name in mechanisms:
        if name not in MECHANISMS:
            raise ParameterError(
                f"There is no mechanism {name!r} to compare; choose among {', '.join(MECHANISMS)}.",
                name="mechanism",
                value=name,
            )
    for epsilon in epsilons:
        check_epsilon(made("total", epsilon, 3).epsilon, "the table")
    graphs = graphs_at_hand(folder, names)
    kept = ResultsFolder(to)
    cells = cells_of(graphs, mechanisms, epsilons)
    finish(cells, graphs, kept, progress=progress)
    rows = rows_of(cells, map(kept.result, cells))
    draw_beside(rows, to / "beside.svg")
    for file_name, content in (("beside.csv", beside_csv(rows)), ("beside.md", beside_text(rows, graphs, command))):
        with whole_file(to / file_name, replace=True) as file:
            file.write(content.encode())
    return len(rows)
