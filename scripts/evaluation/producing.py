"""Makes the figures, tables, claims and the report of the paper's evaluation, in one folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evaluation.cells import Cell
from evaluation.claims import judge_all
from evaluation.datasets import DATASETS, Dataset, EvaluatedGraph, find_files
from evaluation.drawing import drawings
from evaluation.experiments import EXPERIMENTS
from evaluation.finished_cells import Finished
from evaluation.kept_files import write_text
from evaluation.missing_cells import Memberships, Step, StoredCohesions, finish
from evaluation.report_text import report
from evaluation.results_folder import ResultsFolder
from evaluation.tables import TABLES, claims_table
from pcneo import plots
from pcneo.errors import NotFoundError, ParameterError, PcneoError

TARGETS = (*EXPERIMENTS, "claims", "all")
"""What can be made: a table or figure, the claims with all the cells that they need, or everything with a report."""


@dataclass(frozen=True)
class Evaluation:
    """What was made.

    Attributes:
        files: pictures, data and tables, in order.
        tables: Markdown, by target.
        finished: number of finished cells of the targets.
        refused: those of them whose mechanism is refused for size, with the reason.
        faults: files in the folder that are not used, with the reason.
        absent: datasets that the targets need and that are not at hand.
    """

    files: tuple[Path, ...]
    tables: Mapping[str, str]
    finished: int
    refused: tuple[tuple[Cell, str], ...]
    faults: tuple[tuple[Path, str], ...]
    absent: tuple[str, ...]


def graphs_of_folder(folder: Path, targets: Sequence[str] = ("all",)) -> dict[str, EvaluatedGraph]:
    """Read the graphs that targets need and a folder has, by name; refuse a folder that has none of them."""
    needed = _needed(targets)
    files = find_files(folder, needed)
    return {
        dataset.name: EvaluatedGraph.read(dataset, files[dataset.name]) for dataset in needed if dataset.name in files
    }


def check_targets(targets: Sequence[str]) -> None:
    """Refuse targets that there are not, before anything is read."""
    for target in targets:
        if target not in TARGETS:
            raise ParameterError(
                f"There is no figure {target!r}; choose among {', '.join(TARGETS)}.", name="figure", value=target
            )


def _computed(targets: Sequence[str]) -> list[str]:
    """The experiments whose cells targets need."""
    check_targets(targets)
    return list(EXPERIMENTS) if {"all", "claims"} & set(targets) else list(dict.fromkeys(targets))


def _needed(targets: Sequence[str]) -> list[Dataset]:
    """The datasets that targets need."""
    contents = {dataset.name: "" for dataset in DATASETS}
    names = {cell.graph for name in _computed(targets) for cell in EXPERIMENTS[name].cells(contents)}
    return [dataset for dataset in DATASETS if dataset.name in names]


def evaluate(
    targets: Sequence[str],
    graphs: Mapping[str, EvaluatedGraph],
    to: Path,
    *,
    largest_p: float | None = None,
    stored: StoredCohesions | None = None,
    memberships: Memberships | None = None,
    command: str = "",
    concurrency: int | None = None,
    progress: Callable[[Step], None] | None = None,
) -> Evaluation:
    """Compute the cells that are not finished in the folder `to`, then draw and tabulate.

    The folder gets `cells` and `arrays` for what is finished, `figures` for pictures with their data beside them,
    tables, and `report.md`, which names `command` as its own. Cells of a p beyond `largest_p` are left out. With
    `stored`, cohesions are read instead of searched for; `memberships` has their hashes, and cells that need others are
    left out.
    """
    needed = [dataset.name for dataset in _needed(targets)]
    cells = _cells(targets, graphs, largest_p, memberships)
    if not any(cells.values()):
        raise NotFoundError(
            f"Nothing is there to compute: {', '.join(targets)} needs {', '.join(needed)}; at hand "
            f"{'are' if len(graphs) > 1 else 'is'} {', '.join(graphs) or 'nothing'}, at the p that are asked for and "
            "stored.",
            what="graph",
            name=", ".join(needed),
        )
    figures = to / "figures"
    try:
        figures.mkdir(parents=True, exist_ok=True)
        folder = ResultsFolder(to)
    except OSError as error:
        raise PcneoError(f"{to} cannot be used: {error.strerror}.", path=to) from error
    shown = [name for name in cells if "all" in targets or name in targets]
    if set(shown) - {"datasets"}:
        plots.check_picture(figures / "any.svg")
    every = [cell for of_experiment in cells.values() for cell in of_experiment]
    finish(every, graphs, folder, stored=stored, memberships=memberships, concurrency=concurrency, progress=progress)

    done = {name: Finished.of(of_experiment, folder) for name, of_experiment in cells.items()}
    together = Finished.of(every, folder)
    files, tables = _present({name: done[name] for name in shown}, figures)
    if {"all", "claims"} & set(targets):
        verdicts = judge_all(together)
        tables["claims"] = claims_table(verdicts)
        files.append(write_text(to / "claims.md", tables["claims"]))
        if "all" in targets:
            files.append(write_text(to / "report.md", report(done, verdicts, command, largest_p)))
    return Evaluation(
        files=tuple(files),
        tables=tables,
        finished=len(together),
        refused=tuple(together.refusals),
        faults=tuple(folder.faults),
        absent=tuple(name for name in needed if name not in graphs),
    )


def _cells(
    targets: Sequence[str],
    graphs: Mapping[str, EvaluatedGraph],
    largest_p: float | None,
    memberships: Memberships | None,
) -> dict[str, list[Cell]]:
    """The cells that targets need and that can be computed, by experiment."""
    contents = {name: graph.content for name, graph in graphs.items()}
    return {
        name: [
            _from_stored(cell, memberships)
            for cell in EXPERIMENTS[name].cells(contents)
            if _is_wanted(cell, largest_p) and _is_possible(cell, memberships)
        ]
        for name in _computed(targets)
    }


def _is_wanted(cell: Cell, largest_p: float | None) -> bool:
    return cell.needs is None or largest_p is None or float(cell.needs.p) <= largest_p


def _points(cell: Cell) -> list[tuple[str, str, str]]:
    """Graph, p and score of the cohesions that a cell needs."""
    return [(cell.graph, cell.needs.p, score) for score in cell.needs.scores] if cell.needs else []


def _is_possible(cell: Cell, memberships: Memberships | None) -> bool:
    """Whether the cohesions that a cell needs are stored, if the evaluation is one of stored cohesions."""
    if memberships is None or cell.needs is None:
        return True
    return cell.needs.sample is None and all(point in memberships for point in _points(cell))


def _from_stored(cell: Cell, memberships: Memberships | None) -> Cell:
    """The cell with the hash of the stored cohesions, so that it is not taken for one of other cohesions."""
    if memberships is None or cell.needs is None:
        return cell
    return replace(cell, memberships="+".join(memberships[point] for point in _points(cell)))


def _present(shown: Mapping[str, Finished], folder: Path) -> tuple[list[Path], dict[str, str]]:
    """Draw and tabulate; return the files in order, and the tables by experiment."""
    files: list[Path] = []
    tables: dict[str, str] = {}
    for name, finished in shown.items():
        files += _draw(name, finished, folder)
        if name in TABLES:
            tables[name] = TABLES[name](finished)
            files.append(write_text(folder / f"{name}.md", tables[name]))
    return files, tables


def _draw(name: str, finished: Finished, folder: Path) -> list[Path]:
    files = []
    for picture, draw in drawings(name, finished).items():
        path = folder / f"{picture}.svg"
        draw(path)
        files.append(path)
    if len(finished):
        files.append(write_text(folder / f"{name}.csv", finished.table()))
    return files
