"""`pcneo annotate`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pcneo.basics.frames import rounded
from pcneo.basics.searches import DEFAULT_P, DEFAULT_SEARCH, SEARCHES, P
from pcneo.basics.selection import Selection
from pcneo.cli.console import Bars, connected, note, print_json, print_table, without_empty
from pcneo.cli.options import Json, NodeLabels, RelationshipTypes
from pcneo.cli.streams import print_row, takes_all_text

if TYPE_CHECKING:
    from pcneo.annotate import EstimateResult, ParquetResult, StatsResult, WriteResult
    from pcneo.basics.model import Cohesion
    from pcneo.search.tally import Summary
    from pcneo.store.database import Database

__all__ = ["Format", "Mode", "annotate", "print_written"]


class Mode(StrEnum):
    """Modes of `annotate`, in the words of Neo4j's Graph Data Science library."""

    write = "write"
    stream = "stream"
    stats = "stats"
    estimate = "estimate"


class Format(StrEnum):
    """How `--mode stream` gives cohesions."""

    csv = "csv"
    json = "json"
    parquet = "parquet"


SearchName = StrEnum("SearchName", list(SEARCHES))


def annotate(
    node_label: NodeLabels = None,
    relationship_type: RelationshipTypes = None,
    key: Annotated[str | None, typer.Option("--key", help="Property that holds the vertices' unique key.")] = None,
    graph: Annotated[
        str | None,
        typer.Option("--graph", help="Your name for this graph; a known one stands for its labels, types and key."),
    ] = None,
    p: Annotated[
        list[P] | None,
        typer.Option(
            "-p",
            parser=P,
            metavar="FRACTION",
            help="Fraction each member keeps, 0.3 or 1/3; may be given several times.",
            show_default="every standing run's, or 0.3",
        ),
    ] = None,
    search: Annotated[
        SearchName | None,
        typer.Option(
            "--search",
            help="; ".join(f"{name}: {kind.meaning}" for name, kind in SEARCHES.items()) + ".",
            show_default=f"every standing run's, or {DEFAULT_SEARCH}",
        ),
    ] = None,
    effort: Annotated[
        int | None,
        typer.Option(
            "--effort", min=1, help="For smallest: with N times the starts it finds smaller sets.", show_default="1"
        ),
    ] = None,
    vertex: Annotated[
        list[str] | None,
        typer.Option(
            "--vertex",
            help="Only this vertex; only the part of the graph around it is read. May be given several times.",
        ),
    ] = None,
    mode: Annotated[
        Mode, typer.Option("--mode", help="write: store; stream: print each; stats: describe; estimate: what it costs.")
    ] = Mode.write,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", min=1, help="Threads that search.", show_default="all cores")
    ] = None,
    create_index: Annotated[
        bool, typer.Option("--create-index", help="Create the index on the key if it is missing.")
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Also prove each answer minimal before it is kept.")] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="With stats: also draw sizes and densities, .svg or .png.")
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", help="Search on a Dask cluster: its address, tcp://HOST:PORT; not with estimate."),
    ] = None,
    format_: Annotated[
        Format | None,
        typer.Option(
            "--format", help="With stream: csv or json on standard output; parquet into --to.", show_default="csv"
        ),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", help="With parquet: a new file, .parquet, or a folder. Only you can read the file."),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option("--part", help="With parquet: part I of N, as I/N; N processes write the whole."),
    ] = None,
    answers_from: Annotated[
        Path | None,
        typer.Option("--from", help="NAME.answers.gz of a release: store groups of its yes-answers, which are rough."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Find the minimal p-cohesion of every vertex and store it beside the graph, or bring what is stored up to date.

    Labels, type and key may be left out where the database leaves one choice, or where --graph names a known graph.

    Example: pcneo annotate --node-label Person --relationship-type KNOWS --key id -p 0.3
    """
    from pcneo import annotate as modes

    in_files = format_ is Format.parquet
    if format_ is not None and mode is not Mode.stream:
        raise typer.BadParameter("Cohesions are given with --mode stream.", param_hint="--format")
    if in_files and vertex:
        raise typer.BadParameter("A file is of all vertices; single ones are printed.", param_hint="--vertex")
    if in_files != (to is not None):
        raise typer.BadParameter("--format parquet and --to belong together.", param_hint="--to")
    if scheduler is not None and (mode is Mode.estimate or vertex):
        raise typer.BadParameter(
            "A cluster searches whole graphs, for write, stream and stats.", param_hint="--scheduler"
        )
    if scheduler is not None and concurrency is not None:
        raise typer.BadParameter(
            "These are threads of this machine; a cluster has those of its workers (dask worker --nthreads).",
            param_hint="--concurrency",
        )
    if as_json and format_ is Format.csv:
        raise typer.BadParameter("--json prints JSON, not CSV: name one of them.", param_hint="--json")
    if part is not None and not in_files:
        raise typer.BadParameter("Parts are of --format parquet.", param_hint="--part")
    if plot is not None and mode is not Mode.stats:
        raise typer.BadParameter("A picture is drawn with --mode stats.", param_hint="--plot")
    if answers_from is not None and (mode is not Mode.write or vertex or scheduler is not None):
        raise typer.BadParameter(
            "Groups of answers are stored, for every vertex, and searched here.", param_hint="--from"
        )
    run = {
        Mode.write: modes.write,
        Mode.stream: modes.stream,
        Mode.stats: partial(modes.stats, plot=plot),
        Mode.estimate: modes.estimate,
    }[mode]
    if to is not None:
        run = partial(_to_parquet, to=to, part=_part(part))
    if answers_from is not None:
        run = partial(_from_answers, answers_from=answers_from)
    rows_on_terminal = mode is Mode.stream and not in_files and sys.stdout is not None and sys.stdout.isatty()
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
            progress=None if rows_on_terminal else bars,  # bars and rows would tear each other
            **on_cluster,
        )
        if isinstance(result, Iterator):
            _print_stream(result, as_json or format_ is Format.json)
            return
    if plot is not None:
        note(f"Picture: {plot}")
    if as_json:
        print_json(result)
    elif isinstance(result, modes.WriteResult):
        print_written(result)
    elif isinstance(result, modes.ParquetResult):
        _print_files(result)
    elif isinstance(result, modes.StatsResult):
        _print_stats(result)
    else:
        _print_estimate(result)


def _print_stream(cohesions: Iterable[Cohesion], as_json: bool) -> None:
    """Print a row for each cohesion, and nothing else on standard output."""
    columns = ["vertex", "p", "search", "size", "edges", "density", "proven", "best", "members"]
    for number, cohesion in enumerate(cohesions):
        if number == 0 and not as_json:
            print_row(columns)  # only now: a search that fails prints nothing
        values = [
            cohesion.vertex,
            str(cohesion.p),
            cohesion.search.name,
            cohesion.size,
            cohesion.edges,
            cohesion.density,
            cohesion.proven,
            cohesion.best,
        ]
        if as_json:
            row = dict(zip(columns, [*values, cohesion.members], strict=True))
            print(json.dumps(row, ensure_ascii=not takes_all_text()))
        else:
            print_row([*values, json.dumps(cohesion.members, ensure_ascii=False)])


SUMMARY = (
    *("p", "cohesions", "memberships", "median size", "size at 90 %", "largest size", "mean size"),
    *("median density", "mean density"),
)


def print_written(result: WriteResult) -> None:
    """Print what became of standing runs."""
    rows = [
        [run.run, run.version, run.added, run.retired, *_summary_row(str(run.search.p), run.summary)[1:]]
        for run in result.runs
    ]
    columns = ["run", "version", "new", "gone", *SUMMARY[1:]]
    print_table(columns, rows, result.caption(), names=["version"])
    if not any(run.changed for run in result.runs):
        note("Up to date: nothing has changed, and nothing was written.")
    _note_seconds(read=result.pre_processing_millis, search=result.compute_millis, write=result.write_millis)


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


def _to_parquet(db: Database, *, vertices: object, create_index: bool, **options: Any) -> ParquetResult:
    from pcneo.annotate import to_parquet

    if create_index:
        raise typer.BadParameter("stream writes nothing to the database, no index either.", param_hint="--create-index")
    return to_parquet(db, **options)


def _print_files(result: ParquetResult) -> None:
    from rich.filesize import decimal

    rows = [(file.p, str(file.path), file.cohesions, file.memberships, decimal(file.bytes)) for file in result.files]
    which = "" if result.part == (1, 1) else ", part {} of {}".format(*result.part)
    print_table(
        ["p", "file", "cohesions", "memberships", "size"],
        rows,
        f"{result.vertices:,} vertices, {result.edges:,} edges{which}; nothing was written to the database",
    )
    _note_seconds(read=result.pre_processing_millis, search=result.compute_millis)


def _print_stats(result: StatsResult) -> None:
    rows = [_summary_row(p, summary) for p, summary in result.summaries.items()]
    print_table(SUMMARY, rows, result.caption())
    _note_seconds(read=result.pre_processing_millis, search=result.compute_millis)


def _note_seconds(**millis: int) -> None:
    note(" · ".join(f"{stage} {_duration(duration / 1000)}" for stage, duration in millis.items()))


def _summary_row(p: str, summary: Summary) -> list[Any]:
    sizes, densities = summary.sizes, summary.densities
    return [
        p,
        summary.cohesions,
        summary.memberships,
        *([*map(_whole, (sizes.p50, sizes.p90, sizes.max)), sizes.mean] if sizes else [None] * 4),
        *((densities.p50, densities.mean) if densities else [None] * 2),
    ]


def _whole(size: float) -> float:
    """A quantile of sizes lies between two of them at times, and is a size otherwise."""
    return int(size) if size.is_integer() else size


def _print_estimate(result: EstimateResult) -> None:
    from rich.filesize import decimal

    rows = [
        (
            p,
            estimate.sampled,
            estimate.memberships,
            _span(f"{estimate.memberships_low:,}", f"{estimate.memberships_high:,}"),
            _duration(estimate.compute_seconds),
            _span(_duration(estimate.compute_seconds_low), _duration(estimate.compute_seconds_high)),
            _duration(estimate.write_seconds),
            _span(_duration(estimate.write_seconds_low), _duration(estimate.write_seconds_high)),
            _duration(estimate.total_seconds),
            decimal(estimate.store_bytes),
            None if estimate.parquet_bytes is None else decimal(estimate.parquet_bytes),
        )
        for p, estimate in result.estimates.items()
    ]
    columns = [
        "p",
        "sampled vertices",
        "memberships",
        "their 95 % interval",
        "search",
        "its 95 % interval",
        "writing",
        "its range",
        "in all",
        "size in the store",
        "size as Parquet",
    ]
    print_table(*without_empty(columns, rows), result.caption())
    note(f"read {_duration(result.read_seconds)}; search and write go on side by side, so the slower one sets the time")
    for p, estimate in result.estimates.items():
        for line in estimate.advice():
            note(f"p={p}: {line}")


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _duration(seconds: float) -> str:
    """Return a time in the unit that fits, to two digits or three."""
    if seconds < 0.0005:
        return "under 1 ms"
    for unit, length in (("h", 3600), ("min", 60), ("s", 1)):
        if seconds >= length * (2 if length > 1 else 1):
            return f"{rounded(seconds / length, 3)} {unit}"
    return f"{seconds * 1000:,.0f} ms"
