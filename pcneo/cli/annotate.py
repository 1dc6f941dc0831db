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
from rich.filesize import decimal

from pcneo.basics.frames import rounded
from pcneo.basics.searches import DEFAULT_P, DEFAULT_SEARCH, SEARCHES, P, Search
from pcneo.basics.selection import Selection
from pcneo.cli.console import Bars, connected, print_json, print_table, without_empty
from pcneo.cli.options import Json, NodeLabels, RelationshipTypes
from pcneo.cli.streams import note, print_row, takes_all_text

if TYPE_CHECKING:
    from pcneo.annotate import EstimateResult, ParquetResult, StatsResult, SteadinessResult, WriteResult
    from pcneo.basics.model import FoundCohesion
    from pcneo.search.tally import Summary
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
            help="With stats: search again under N other numberings, and write to --to how steady the answers are.",
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
    if orders is not None and (mode is not Mode.stats or scheduler is not None or plot is not None):
        raise typer.BadParameter(
            "Numberings are compared with --mode stats, on this machine, and without a picture.", param_hint="--orders"
        )
    if orders is not None and check:
        raise typer.BadParameter("Answers under other numberings are compared, not proved.", param_hint="--check")
    if orders is not None and to is None:
        raise typer.BadParameter("Name a folder for the two files with --to.", param_hint="--orders")
    if in_files and mode is not Mode.stream:
        raise typer.BadParameter("Files are written only with --mode stream or with --orders.", param_hint="--to")
    if in_files and create_index:
        raise typer.BadParameter(
            "stream writes nothing to the database, not even an index.", param_hint="--create-index"
        )
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
        return partial(modes.steadiness, to=to or Path(), orders=orders), _print_steadiness
    if to is not None:  # Parquet
        return partial(modes.to_parquet, to=to, part=_part(part)), _print_files
    return {
        Mode.write: (modes.write, print_written),
        Mode.stream: (modes.stream, partial(_print_stream, as_json=as_json)),
        Mode.stats: (partial(modes.stats, plot=plot), _print_stats),
        Mode.estimate: (modes.estimate, _print_estimate),
    }[mode]


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


SIZES = ("median size", "90 % have at most", "largest")
SUMMARY = ("p", "cohesions", "memberships", *SIZES, "mean size", "median density", "mean density")


def print_written(result: WriteResult) -> None:
    """Print how standing runs have changed."""
    rows = [[run.run, run.summary.cohesions, run.added, run.retired, *_sizes(run.summary)] for run in result.runs]
    print_table(["stored as", "cohesions", "new", "gone", *SIZES], rows, result.caption())
    if not any(run.changed for run in result.runs):
        note("Up to date: nothing has changed, and nothing was written.")
    _note_seconds(read=result.pre_processing_millis, search=result.compute_millis, write=result.write_millis)


def _print_files(result: ParquetResult) -> None:
    """Print the files of cohesions."""
    rows = [(file.p, str(file.path), file.cohesions, file.memberships, decimal(file.bytes)) for file in result.files]
    which = "" if result.part == (1, 1) else ", part {} of {}".format(*result.part)
    print_table(
        ["p", "file", "cohesions", "memberships", "size"],
        rows,
        f"{result.vertices:,} vertices, {result.edges:,} edges{which}; nothing was written to the database",
    )
    _note_seconds(read=result.pre_processing_millis, search=result.compute_millis)


def _print_stats(result: StatsResult) -> None:
    """Print sizes and densities."""
    rows = [_summary_row(p, summary) for p, summary in result.summaries.items()]
    print_table(SUMMARY, rows, result.caption())
    _note_seconds(read=result.pre_processing_millis, search=result.compute_millis)


def _print_steadiness(result: SteadinessResult) -> None:
    """Print how steady answers are."""
    rows = [
        (p, one.vertices, one.same, one.steady, one.connections, one.share, one.always)
        for p, one in result.summaries.items()
    ]
    columns = ["p", "vertices", "same", "always the same", "ever critical", "stays critical", "always critical"]
    print_table(columns, rows, result.caption())
    note("Files: " + ", ".join(map(str, result.files)))
    _note_seconds(read=result.pre_processing_millis, search=result.compute_millis)


def _note_seconds(**millis: int) -> None:
    note(" · ".join(f"{stage} {_duration(duration / 1000)}" for stage, duration in millis.items()))


def _summary_row(p: str, summary: Summary) -> list[Any]:
    sizes, densities = summary.sizes, summary.densities
    return [
        p,
        summary.cohesions,
        summary.memberships,
        *_sizes(summary),
        sizes and sizes.mean,
        *((densities.p50, densities.mean) if densities else [None] * 2),
    ]


def _sizes(summary: Summary) -> list[Any]:
    sizes = summary.sizes
    return [None] * len(SIZES) if sizes is None else [*map(_whole, (sizes.p50, sizes.p90, sizes.max))]


def _whole(size: float) -> float:
    """Return a quantile of sizes as a whole number, unless it lies between two sizes."""
    return int(size) if size.is_integer() else size


def _print_estimate(result: EstimateResult) -> None:
    """Print what storing would cost."""
    rows = [
        {
            "p": p,
            "sampled": estimate.sampled,
            "members in all": _span(f"{estimate.memberships_low:,}", f"{estimate.memberships_high:,}"),
            "search": _span(_duration(estimate.compute_seconds_low), _duration(estimate.compute_seconds_high)),
            "writing": _span(_duration(estimate.write_seconds_low), _duration(estimate.write_seconds_high)),
            "total": _duration(estimate.total_seconds),
            "in the store": decimal(estimate.store_bytes),
            "as Parquet": None if estimate.parquet_bytes is None else decimal(estimate.parquet_bytes),
        }
        for p, estimate in result.estimates.items()
    ]
    print_table(*without_empty(rows), result.caption())
    read = _duration(result.read_seconds)
    note(f"The total is reading, {read}, and the slower of search and writing, which run at the same time.")
    for p, estimate in result.estimates.items():
        logs, again = decimal(estimate.log_bytes), decimal(estimate.removal_log_bytes)
        note(f"p={p}: the server's transaction logs grow by about {logs}, and by {again} when the run is removed")
        for line in estimate.advice():
            note(f"p={p}: {line}")


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _duration(seconds: float) -> str:
    """Return a time in a suitable unit, to two or three digits."""
    if seconds < 0.0005:
        return "under 1 ms"
    for unit, length in (("h", 3600), ("min", 60), ("s", 1)):
        if seconds >= length * (2 if length > 1 else 1):
            return f"{rounded(seconds / length, 3)} {unit}"
    return f"{seconds * 1000:,.0f} ms"
