"""The command line of the evaluation, run as `scripts/evaluate`."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from evaluation.kept_files import write_text
from pcneo.basics.json_form import camel
from pcneo.cli.console import connected, print_json, print_table
from pcneo.cli.options import Json
from pcneo.cli.streams import note
from pcneo.errors import ParameterError, PcneoError

if TYPE_CHECKING:
    from evaluation.missing_cells import Step
    from evaluation.producing import Evaluation


class _MakeByDefault(TyperGroup):
    """Takes `all --to FOLDER` for `make all --to FOLDER`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = ["make", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    name="scripts/evaluate",
    cls=_MakeByDefault,
    help="Make the paper's evaluation again: its figures, tables and claims, with its mechanisms and ours. Exit codes "
    "are those of pcneo.\n\n"
    "The word `make` may be left out.\n\n"
    "Example: scripts/evaluate all --graphs graphs --to results",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def make(
    figure: Annotated[
        list[str],
        typer.Argument(
            help="What to make: datasets, score-density, score-size, view-density, view-size, p-hepth, h-celegans, "
            "all-10, epsilon-usairport, all-5, all-1, epsilon1-celegans, p-bitcoin, all-10-k4, epsilon-usairport-k4, "
            "losses, claims, or all."
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
            help="A graph of the database instead, such as Celegans=NAME: its cohesions are read from its runs. "
            "Repeatable.",
        ),
    ] = None,
    largest_p: Annotated[
        float | None, typer.Option("--largest-p", help="Leave out larger p, which cost the most.", min=0, max=1)
    ] = None,
    as_json: Json = False,
) -> None:
    """Make the paper's figures, tables and claims; cells that are finished in the folder are not computed again.

    Noise is simulated, in floating point. After an interruption, the same command goes on where it was. With --stored,
    cells are left out if there is no complete run of their p, or if they are of a sample.

    Example: scripts/evaluate all --graphs graphs --to results
    """
    from evaluation.producing import check_targets, evaluate, graphs_of_folder

    check_targets(figure)
    if (graphs is None) == (not stored):
        raise ParameterError("Name a folder with --graphs, or graphs of the database with --stored.", name="graphs")
    named = _named_graphs(stored or [])
    command = as_called(figure, to, graphs, stored, largest_p)
    with ExitStack() as stack:
        if graphs is not None:
            at_hand, cohesions, memberships = graphs_of_folder(graphs, figure), None, None
        else:
            from evaluation.stored_graphs import StoredGraphs

            db = stack.enter_context(connected())
            read = StoredGraphs(db, named)
            at_hand, cohesions, memberships = read.graphs, read.cohesions, read.memberships
        made = evaluate(
            figure,
            at_hand,
            to,
            largest_p=largest_p,
            stored=cohesions,
            memberships=memberships,
            command=command,
            progress=stack.enter_context(_progress()),
        )
    _print(made, to, as_json=as_json)


def _print(made: Evaluation, to: Path, *, as_json: bool) -> None:
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
    """Return the command as a report names it: of folders only the last part, which tells nothing of the machine."""
    called = _called(figure, to, graphs, ("--stored", stored))
    return called if largest_p is None else f"{called} --largest-p {largest_p:g}"


def _called(words: Sequence[str], to: Path, graphs: Path | None, *options: tuple[str, Sequence[str] | None]) -> str:
    words = ["scripts/evaluate", *words, *(["--graphs", graphs.resolve().name] if graphs is not None else [])]
    words += [part for option, values in options for value in values or () for part in (option, value)]
    return shlex.join([*words, "--to", to.resolve().name])


def _write(to: Path, name: str, numbers: str, text: str) -> None:
    write_text(to / f"{name}.csv", numbers)
    write_text(to / f"{name}.md", text)


def _named_graphs(stored: Sequence[str]) -> dict[str, str]:
    """Read DATASET=NAME."""
    named = dict(text.split("=", 1) for text in stored if "=" in text)
    if len(named) != len(stored):
        raise ParameterError(
            "--stored takes a dataset and a graph's name, such as Celegans=NAME, each dataset once.",
            name="stored",
            value=stored,
        )
    return named


@contextmanager
def _progress() -> Iterator[Callable[[Step], None]]:
    """Progress on standard error: a line that moves on a terminal, else a line every half minute."""
    from rich.console import Console
    from rich.status import Status

    console = Console(stderr=True)
    last = 0.0
    with Status("reading the graphs", console=console) as status:

        def show(step: Step) -> None:
            nonlocal last
            text = f"{step.done:,} of {step.total:,} cells; {step.what}{_left(step.seconds_left)}"
            if console.is_terminal:
                status.update(text)
            elif step.total and time.monotonic() - last > 30:
                last = time.monotonic()
                note(text)

        yield show


def _left(seconds: float) -> str:
    return f"; about {seconds / 60:.0f} min left" if seconds >= 90 else f"; about {seconds:.0f} s left"


@app.command()
def attacker(
    to: Annotated[
        Path, typer.Option("--to", help="Folder for attacker.md, attacker.svg, attacker.csv and what is finished.")
    ],
    graphs: Annotated[
        Path | None, typer.Option("--graphs", help="Folder with the paper's graphs as edge lists.", show_default=False)
    ] = None,
    name: Annotated[
        list[str] | None, typer.Option("--name", help="A graph of the folder; by default all that are small enough.")
    ] = None,
    epsilon: Annotated[list[str] | None, typer.Option("-e", "--epsilon", help="By default 1, 2, 3, 5 and 10.")] = None,
    k: Annotated[int, typer.Option("-k", help="Vertices of the cliques.")] = 3,
    p: Annotated[str, typer.Option("-p", help="Of the groups.")] = "0.1",
    search: Annotated[str, typer.Option("--search", help="Of the groups.")] = "density",
) -> None:
    """Measure the errors of every mechanism beside what one fixed attacker finds.

    The friendships that come with pcneo are always among the graphs. Of those with more than 10,000 vertices, whose
    pairs are too many to be ranked, there are errors alone, and only where they are named. After an interruption, the
    same command goes on with the graph where it was.

    Example: scripts/evaluate attacker --graphs graphs --to results
    """
    from evaluation.attacker import EPSILONS, Setting, attack_csv, attack_text, draw_attacks, find_once
    from evaluation.datasets import DATASETS, EvaluatedGraph, find_files, read_edges
    from pcneo.face.first_steps import sample_path
    from pcneo.privacy.attack import MOST_VERTICES

    files = find_files(graphs) if graphs is not None else {}
    wanted = [d for d in DATASETS if d.name in (name or files) and (name or d.counts.nodes <= MOST_VERTICES)]
    if missing := {*(name or ())} - {d.name for d in wanted if d.name in files}:
        raise ParameterError(f"Not at hand: {', '.join(sorted(missing))}.", name="name", value=name)
    at_hand = {"Copenhagen": read_edges(sample_path())}
    at_hand |= {d.name: EvaluatedGraph.read(d, files[d.name]).graph for d in wanted}
    setting = Setting(k, p, search)
    (to / "finished").mkdir(parents=True, exist_ok=True)
    values = epsilon or EPSILONS
    attacked = [find_once(to / "finished", *each, values, setting, note) for each in at_hand.items()]
    draw_attacks(attacked, to / "attacker.svg", setting)
    changed = (("-k", k, Setting.k), ("-p", p, Setting.p), ("--search", search, Setting.search))
    settings = [(option, [str(value)]) for option, value, usual in changed if value != usual]
    command = _called(["attacker"], to, graphs, ("--name", name), ("-e", epsilon), *settings)
    _write(to, "attacker", attack_csv(attacked), attack_text(attacked, command, setting))
    note(f"{len(attacked)} graphs, in {to}")


@app.command()
def answers(
    to: Annotated[
        Path, typer.Option("--to", help="Folder for answers.md, answers.svg, answers.csv and what is finished.")
    ],
    graphs: Annotated[
        Path | None,
        typer.Option(
            "--graphs",
            help="Folder with the paper's graphs, and email_eu_core.edges.gz and .labels.gz.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[list[str] | None, typer.Option("--name", help="A graph; by default all.")] = None,
    p: Annotated[list[str] | None, typer.Option("-p", help="By default 0.1 to 0.5.")] = None,
) -> None:
    """Measure how good the answers of each search are, beside one hop, a community of the k-core, and Louvain's.

    Sizes, densities, agreement with known groups, the gap to the proven minimum, sameness under other numberings, what
    changes when connections are removed, and time, on drawn vertices. Made graphs and Les Misérables are always there.
    The minimum is proved by OR-tools (the extra `answers`). After an interruption, the same command goes on.

    Example: scripts/evaluate answers --graphs graphs --to results
    """
    from evaluation.answers.grouped_graphs import graphs_of
    from evaluation.answers.picturing import draw_answers
    from evaluation.answers.set_figures import PS, measure
    from evaluation.answers.telling import answers_csv, answers_text

    (to / "finished").mkdir(parents=True, exist_ok=True)
    at_hand = graphs_of(graphs)
    if missing := {*(name or ())} - at_hand.keys():
        raise ParameterError(f"Not at hand: {', '.join(sorted(missing))}.", name="name", value=name)
    wanted = [made for one, made in at_hand.items() if not name or one in name]
    figures = [row for made in wanted for row in measure(made(), to / "finished", p or PS, note)]
    draw_answers(figures, to / "answers.svg")
    command = _called(["answers"], to, graphs, ("--name", name), ("-p", p))
    _write(to, "answers", answers_csv(figures), answers_text(figures, command))
    note(f"{len(wanted)} graphs, in {to}")


@app.command()
def beside(
    to: Annotated[Path, typer.Option("--to", help="Folder for beside.md, beside.svg, beside.csv and finished cells.")],
    graphs: Annotated[Path, typer.Option("--graphs", help="Folder with graphs as edge lists.")],
    graph: Annotated[
        list[str] | None,
        typer.Option("--graph", help="A graph of the table, or an edge list of the folder; by default all there are."),
    ] = None,
    mechanism: Annotated[
        list[str] | None,
        typer.Option("--mechanism", help="respond, oriented, total, modelled, edge or critical; by default all."),
    ] = None,
    epsilon: Annotated[list[str] | None, typer.Option("-e", "--epsilon", help="By default 0.5, 1, 2 and 3.")] = None,
) -> None:
    """Count triangles privately with our mechanisms and with those of other papers, side by side.

    Others' mechanisms are implemented from their papers. Beside errors stands what one connection really loses in the
    worst case found. Cells that are finished in the folder are not computed again.

    Example: scripts/evaluate beside --graphs graphs --graph wiki-Vote --mechanism oriented -e 1 --to row
    """
    from evaluation.beside.making import make_beside

    command = _called(["beside"], to, graphs, ("--graph", graph), ("--mechanism", mechanism), ("-e", epsilon))
    with _progress() as progress:
        made = make_beside(
            graphs,
            to,
            command,
            names=graph or (),
            mechanisms=mechanism or (),
            epsilons=epsilon or (),
            progress=progress,
        )
    note(f"{made:,} cells, in {to}")


@app.command()
def graphs(
    folder: Annotated[Path | None, typer.Argument(help="Folder to check.", show_default=False)] = None,
) -> None:
    """Say where the paper's nine graphs are from, or check a folder of them.

    The graphs are not part of pcneo. Fetch each from its publisher and put it into a folder as an edge list, two
    vertices a line, under the name below with .edges, .txt, .edges.gz or .txt.gz at its end. Directions, repeated edges
    and self-loops do not matter; neither do names of vertices, nor vertices without an edge, which are added. With a
    folder, the command says which graphs it has and whether their counts are right; it leaves with 1 unless all are.

    Example: scripts/evaluate graphs graphs
    """
    from evaluation.datasets import DATASETS, EvaluatedGraph, find_files

    if folder is None:
        columns = ["name", "file", "vertices", "edges", "largest degree", "triangles", "source"]
        rows = [
            (d.name, d.file, d.counts.nodes, d.counts.edges, d.counts.largest_degree, d.counts.triangles, d.source)
            for d in DATASETS
        ]
        print_table(columns, rows)
        return
    files = find_files(folder)
    wrong = 0
    for dataset in DATASETS:
        if dataset.name not in files:
            print(f"{dataset.name:<12}is not there; from {dataset.source}")
            wrong += 1
            continue
        try:
            EvaluatedGraph.read(dataset, files[dataset.name])
            print(f"{dataset.name:<12}{files[dataset.name].name}: all counts as expected")
        except PcneoError as error:
            print(f"{dataset.name:<12}{error}")
            wrong += 1
    if wrong:
        raise typer.Exit(1)


@app.command()
def keep(results: Annotated[Path, typer.Argument(help="The folder that `scripts/evaluate all` wrote.")]) -> None:
    """Keep the report of an evaluation in the project, with the figures it shows, in place of the one before.

    Example: scripts/evaluate keep results
    """
    from evaluation.kept_report import KEPT_REPORT, keep_report

    files = keep_report(results)
    megabytes = sum(file.stat().st_size for file in files) / 1e6
    print(f"{KEPT_REPORT}: {len(files)} files, {megabytes:.1f} MB")
