"""`pcneo annotate`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pcneo.basics.searches import DEFAULT_P, DEFAULT_SEARCH, SEARCHES, P, Search
from pcneo.basics.selection import Selection
from pcneo.cli.annotated import print_estimate, print_files, print_stats, print_steadiness, print_written
from pcneo.cli.console import Bars, connected, print_json
from pcneo.cli.options import Json, NodeLabels, RelationshipTypes
from pcneo.cli.streams import note, print_row, takes_all_text

if TYPE_CHECKING:
    from pcneo.annotate import WriteResult
    from pcneo.basics.model import FoundCohesion
    from pcneo.store.database import Database


class Mode(StrEnum):
    """Modes of `annotate`, in the words of Neo4j's Graph Data Science library."""

    write = "write"
    stream = "stream"
    stats = "stats"
    estimate = "estimate"


SearchName = StrEnum("SearchName", list(SEARCHES))


def annotate(
    node_label: NodeLabels = None,
    relationship_type: RelationshipTypes = None,
    key: Annotated[str | None, typer.Option("--key", help="Property that holds the vertices' unique key.")] = None,
    graph: Annotated[
        str | None,
        typer.Option("--graph", help="Your name for this graph; once known, it stands for the labels, types and key."),
    ] = None,
    p: Annotated[
        list[P] | None,
        typer.Option(
            "-p",
            parser=P,
            metavar="FRACTION",
            help="Share of its neighbours that each member keeps, such as 0.3 or 1/3; may be given several times.",
            show_default="every standing run's, or 0.3",
        ),
    ] = None,
    search: Annotated[
        SearchName | None,
        typer.Option(
            "--search",
            help="; ".join(f"{name}: {meaning}" for name, meaning in SEARCHES.items()) + ".",
            show_default=f"every standing run's, or {DEFAULT_SEARCH}",
        ),
    ] = None,
    effort: Annotated[
        int | None,
        typer.Option(
            "--effort",
            min=1,
            help="For smallest: try N times as many starts, which takes longer and finds smaller sets.",
            show_default="1",
        ),
    ] = None,
    vertex: Annotated[
        list[str] | None,
        typer.Option(
            "--vertex",
            help="Search only this vertex, and read only the graph around it; may be given several times.",
        ),
    ] = None,
    mode: Annotated[
        Mode,
        typer.Option("--mode", help="write: store; stream: print each; stats: describe; estimate: say what it costs."),
    ] = Mode.write,
    concurrency: Annotated[
        int | None,
        typer.Option("--concurrency", min=1, help="Number of threads that search.", show_default="all cores"),
    ] = None,
    create_index: Annotated[
        bool, typer.Option("--create-index", help="Create the index on the key if it is missing.")
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Also prove each answer minimal before it is kept.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="With stats: also draw sizes and densities; with several p, against p."),
    ] = None,
    orders: Annotated[
        int | None,
        typer.Option(
            "--orders",
            min=1,
            help="With stats: search again under N other numberings, and write how steady the answers are to --to.",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler", help="Search on the Dask cluster at this address, tcp://HOST:PORT; not with estimate."
        ),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to",
            help="With stream: write Parquet to a new .parquet file or into a folder, instead of CSV to standard "
            "output. With --orders: the folder for its files. Only you can read the files.",
        ),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(
            "--part", help="With stream and --to: write part I of N, given as I/N; N processes write the whole."
        ),
    ] = None,
    answers_from: Annotated[
        Path | None,
        typer.Option("--from", help="Store rough groups, computed from the yes-answers of a release: NAME.answers.gz."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Find the minimal p-cohesion of every vertex and store it beside the graph, or bring what is stored up to date.

    Labels, type and key may be left out if the database leaves only one choice, or if --graph names a known graph.

    Example: pcneo annotate --node-label Person --relationship-type KNOWS --key id -p 0.3
    """
    in_files = to is not None and orders is None
    _check_orders(orders, mode, to, scheduler, plot)
    if in_files and mode is not Mode.stream:
        raise typer.BadParameter("Files are written only with --mode stream or with --orders.", param_hint="--to")
    if in_files and vertex:
        raise typer.BadParameter(
            "A file always holds every vertex; without --to, single vertices are printed.", param_hint="--vertex"
        )
    if scheduler is not None and (mode is Mode.estimate or vertex):
        raise typer.BadParameter(
            "A cluster searches whole graphs, for write, stream and stats.", param_hint="--scheduler"
        )
    if scheduler is not None and concurrency is not None:
        raise typer.BadParameter(
            "This sets the threads on this machine; a cluster uses those of its workers (dask worker --nthreads).",
            param_hint="--concurrency",
        )
    if part is not None and not in_files:
        raise typer.BadParameter("A part is written to a file; name it with --to.", param_hint="--part")
    if plot is not None and mode is not Mode.stats:
        raise typer.BadParameter("A picture is drawn only with --mode stats.", param_hint="--plot")
    if effort is not None and search is not None:
        Search(DEFAULT_P, search.value, effort)  # refuses more effort than the search takes
    if answers_from is not None and (mode is not Mode.write or vertex or scheduler is not None):
        raise typer.BadParameter(
            "Groups from answers are always stored, for every vertex, and searched on this machine.",
            param_hint="--from",
        )
    run, print_result = _way(mode, orders, to, part, plot, answers_from, as_json=as_json)
    is_streamed = mode is Mode.stream and not in_files
    rows_on_terminal = is_streamed and sys.stdout is not None and sys.stdout.isatty()
    with connected() as db, _cluster(scheduler) as on_cluster, Bars() as bars:
        if in_files and create_index:
            raise typer.BadParameter(
                "stream writes nothing to the database, not even an index.", param_hint="--create-index"
            )
        result = run(
            db,
            p=p or (None if mode is Mode.write else DEFAULT_P),
            graph=graph,
            selection=Selection(node_label or (), relationship_type or (), key),
            search=search and search.value,
            effort=effort,
            vertices=vertex or None,
            concurrency=concurrency,
            create_index=create_index,
            check=check,
            progress=None if rows_on_terminal else bars,  # bars and rows would break each other up
            **on_cluster,
        )
        if is_streamed:
            print_result(result)
            return
    if plot is not None:
        note(f"Picture: {plot}")
    if as_json:
        print_json(result)
    else:
        print_result(result)


def _way(
    mode: Mode, orders: int | None, to: Path | None, part: str | None, plot: Path | None, answers_from: Path | None, *,
    as_json: bool,
) -> tuple[Callable[..., Any], Callable[[Any], None]]:  # fmt: skip
    """Return the function that does what is asked, and the one that prints its result."""
    from pcneo import annotate as modes

    if answers_from is not None:
        return partial(_from_answers, answers_from=answers_from), print_written
    if orders is not None:
        return partial(modes.steadiness, to=to or Path(), orders=orders), print_steadiness
    if to is not None:  # Parquet
        return partial(modes.to_parquet, to=to, part=_part(part)), print_files
    return {
        Mode.write: (modes.write, print_written),
        Mode.stream: (modes.stream, partial(_print_stream, as_json=as_json)),
        Mode.stats: (partial(modes.stats, plot=plot), print_stats),
        Mode.estimate: (modes.estimate, print_estimate),
    }[mode]


def _check_orders(orders: int | None, mode: Mode, to: Path | None, scheduler: str | None, plot: Path | None) -> None:
    """Refuse options that do not go with --orders."""
    if orders is None:
        return
    if mode is not Mode.stats or scheduler is not None or plot is not None:
        raise typer.BadParameter(
            "Numberings are compared with --mode stats, on this machine, and without a picture.", param_hint="--orders"
        )
    if to is None:
        raise typer.BadParameter("Name a folder for the two files with --to.", param_hint="--orders")


def _print_stream(cohesions: Iterable[FoundCohesion], *, as_json: bool) -> None:
    """Print a row for each cohesion, and nothing else on standard output."""
    for number, cohesion in enumerate(cohesions):
        row = {**cohesion.as_row(), "members": cohesion.members}
        if as_json:
            print(json.dumps(row, ensure_ascii=not takes_all_text()))
            continue
        if number == 0:
            print_row(list(row))  # only now, so that a search that fails prints nothing
        *values, members = row.values()
        print_row([*values, json.dumps(members, ensure_ascii=False)])


@contextmanager
def _cluster(address: str | None) -> Iterator[dict[str, Any]]:
    """Connect to a scheduler, if one is named, and yield the option for it."""
    if address is None:
        yield {}
        return
    from pcneo.search.cluster import connected_scheduler

    with connected_scheduler(address) as client:
        yield {"scheduler": client}


def _part(text: str | None) -> tuple[int, int]:
    number, _, parts = (text or "1/1").partition("/")
    if not (number.isascii() and number.isdecimal() and parts.isascii() and parts.isdecimal()):
        raise typer.BadParameter("A part is I/N, such as 3/16.", param_hint="--part")
    return int(number), int(parts)


def _from_answers(db: Database, *, vertices: object, **options: Any) -> WriteResult:
    """Say how rough the groups are before they are listed."""
    from pcneo.release.rough_groups import annotate_answers

    made = annotate_answers(db, **options)
    note(made.rough)
    return made.written
