"""The use case: figures, tables, claims and the report of the paper's evaluation, into one folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pcneo import plots
from pcneo.errors import ParameterError, PcneoError
from pcneo.evaluate.cells import Cell
from pcneo.evaluate.claims import judge_all
from pcneo.evaluate.datasets import DATASETS, Dataset, EvaluatedGraph, find_files
from pcneo.evaluate.drawing import drawings
from pcneo.evaluate.evaluating import Step, StoredSets, finish
from pcneo.evaluate.experiments import EXPERIMENTS
from pcneo.evaluate.finished import Finished
from pcneo.evaluate.kept import Kept
from pcneo.evaluate.tables import TABLES, claims_table, report
from pcneo.whole import whole_file

__all__ = ["TARGETS", "Evaluation", "evaluate", "graphs_of_folder"]

TARGETS = (*EXPERIMENTS, "claims", "all")
"""What can be asked for: a table or figure, the claims with all cells they rest on, or everything with a report."""


@dataclass(frozen=True)
class Evaluation:
    """What was made.

    Attributes:
        files: pictures, data and tables, in order.
        tables: Markdown, by target.
        finished, missing: cells of what was asked for.
        faults: files in the folder that are not used, each with the reason.
        absent: datasets that are not at hand.
    """

    files: tuple[Path, ...]
    tables: Mapping[str, str]
    finished: int
    missing: int
    faults: tuple[tuple[Path, str], ...]
    absent: tuple[str, ...]


def graphs_of_folder(folder: Path) -> dict[str, EvaluatedGraph]:
    """Read those of the nine graphs that a folder has, by name.

    Raises:
        ParameterError, NotFoundError: there is no such folder, or it has none of them.
        FileFormatError, GraphError: a file cannot be read, or is another graph.
    """
    files = find_files(folder, DATASETS)
    return {
        dataset.name: EvaluatedGraph.read(dataset, files[dataset.name]) for dataset in DATASETS if dataset.name in files
    }


def evaluate(
    targets: Sequence[str],
    graphs: Mapping[str, EvaluatedGraph],
    to: Path,
    *,
    largest_p: float | None = None,
    stored: StoredSets | None = None,
    stored_points: Sequence[tuple[str, str, str]] | None = None,
    command: str = "",
    concurrency: int | None = None,
    progress: Callable[[Step], None] | None = None,
) -> Evaluation:
    """Compute what is not finished, draw and tabulate; what an earlier call finished in the folder is used again.

    Args:
        targets: of `TARGETS`.
        graphs: by name.
        to: a folder, made where it is missing: `cells` and `arrays` for what is finished, `figures` for pictures, each
            with its data beside it, tables, and `report.md`.
        largest_p: leave out cells of a larger p.
        stored: where to take the cohesions of all vertices from, instead of searching for them.
        stored_points: graph, p and score of those that are there; cells that need others are left out.
        command: that the report names as the one that made it.
        concurrency: number of threads; the cores at hand if not given.
        progress: called with each step.

    Raises:
        ParameterError: there is no such target.
        PcneoError: matplotlib is not installed, or the folder cannot be written.
    """
    for target in targets:
        if target not in TARGETS:
            raise ParameterError(
                f"There is no figure {target!r}; choose among {', '.join(TARGETS)}.", name="figure", value=target
            )
    figures = to / "figures"
    try:
        figures.mkdir(parents=True, exist_ok=True)
        kept = Kept(to)
    except OSError as error:
        raise PcneoError(f"{to} cannot be used: {error.strerror}.", path=to) from error
    plots.check_picture(figures / "any.svg")
    contents = {name: graph.content for name, graph in graphs.items()}
    whole = bool({"all", "claims"} & set(targets))
    names = list(EXPERIMENTS) if whole else list(dict.fromkeys(targets))
    cells = {
        name: [
            cell
            for cell in EXPERIMENTS[name].cells(contents)
            if _wanted(cell, largest_p) and _can_be_had(cell, stored_points)
        ]
        for name in names
    }
    every = [cell for each in cells.values() for cell in each]
    finish(every, graphs, kept, stored=stored, concurrency=concurrency, progress=progress)

    done = {name: Finished.of(each, kept) for name, each in cells.items()}
    together = Finished.of(every, kept)
    files: list[Path] = []
    tables: dict[str, str] = {}
    for name, finished in done.items():
        if whole and "all" not in targets:
            break
        files += _draw(name, finished, figures)
        if name in TABLES:
            tables[name] = TABLES[name](finished)
            files.append(_write(figures / f"{name}.md", tables[name]))
    if whole:
        verdicts = judge_all(together)
        tables["claims"] = claims_table(verdicts)
        files.append(_write(to / "claims.md", tables["claims"]))
        if "all" in targets:
            files.append(_write(to / "report.md", report(done, verdicts, command, largest_p)))
    return Evaluation(
        files=tuple(files),
        tables=tables,
        finished=len(together),
        missing=len(together.missing),
        faults=tuple(kept.faults),
        absent=tuple(dataset.name for dataset in _absent(graphs)),
    )


def _absent(graphs: Mapping[str, EvaluatedGraph]) -> list[Dataset]:
    return [dataset for dataset in DATASETS if dataset.name not in graphs]


def _wanted(cell: Cell, largest_p: float | None) -> bool:
    return cell.p is None or largest_p is None or float(cell.p) <= largest_p


def _can_be_had(cell: Cell, points: Sequence[tuple[str, str, str]] | None) -> bool:
    """Whether the cohesions that a cell needs are stored."""
    if points is None or cell.p is None:
        return True
    scores = ("density", "degree") if cell.kind == "scores" else (cell.score or "",)
    return cell.sample is None and all((cell.graph, cell.p, score) in points for score in scores)


def _draw(name: str, finished: Finished, folder: Path) -> list[Path]:
    files = []
    for picture, draw in drawings(name, finished).items():
        for ending in ("svg", "png"):
            path = folder / f"{picture}.{ending}"
            draw(path)
            files.append(path)
    if len(finished):
        files.append(_write(folder / f"{name}.csv", finished.table()))
    return files


def _write(path: Path, text: str) -> Path:
    with whole_file(path, replace=True) as file:
        file.write(text.encode())
    return path
