"""Makes the table: checks what is asked for, computes what is not finished, writes text, picture and numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from evaluation.beside.beside_picture import draw_beside
from evaluation.beside.beside_text import beside_csv, beside_text, cells_of
from evaluation.beside.compared_graphs import graphs_at_hand
from evaluation.beside.papers import EPSILONS, MECHANISMS
from evaluation.beside.simulated_runs import made
from evaluation.finished_cells import Finished
from evaluation.kept_files import write_text
from evaluation.missing_cells import Step, finish
from evaluation.results_folder import ResultsFolder
from pcneo.errors import ParameterError
from pcneo.privacy.randomised_response import check_epsilon


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
    """Make the table, or some rows of it, in a folder; return how many cells it has.

    What is finished in the folder is not computed again. Names, mechanisms and ε are all that there are if empty.
    Nothing is written if a graph is not there, is another one, or has nothing to compare.
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
    rows = Finished.of(cells, kept).beside
    draw_beside(rows, to / "beside.svg")
    write_text(to / "beside.csv", beside_csv(rows))
    write_text(to / "beside.md", beside_text(rows, graphs, command))
    return len(rows)
