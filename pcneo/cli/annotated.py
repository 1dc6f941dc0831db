"""How `pcneo annotate` prints its results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.filesize import decimal

from pcneo.basics.frames import rounded
from pcneo.cli.console import print_table, without_empty
from pcneo.cli.streams import note

if TYPE_CHECKING:
    from pcneo.annotate import EstimateResult, ParquetResult, StatsResult, SteadinessResult, WriteResult
    from pcneo.search.tally import Summary


SIZES = ("median size", "90 % have at most", "largest")
SUMMARY = ("p", "cohesions", "memberships", *SIZES, "mean size", "median density", "mean density")


def print_written(result: WriteResult) -> None:
    """Print how standing runs have changed."""
    rows = [[run.run, run.summary.cohesions, run.added, run.retired, *_sizes(run.summary)] for run in result.runs]
    print_table(["stored as", "cohesions", "new", "gone", *SIZES], rows, result.caption())
    if not any(run.changed for run in result.runs):
        note("Up to date: nothing has changed, and nothing was written.")
    _note_seconds(read=result.pre_processing_millis, search=result.compute_millis, write=result.write_millis)


def print_files(result: ParquetResult) -> None:
    """Print the files of cohesions."""
    rows = [(file.p, str(file.path), file.cohesions, file.memberships, decimal(file.bytes)) for file in result.files]
    which = "" if result.part == (1, 1) else ", part {} of {}".format(*result.part)
    print_table(
        ["p", "file", "cohesions", "memberships", "size"],
        rows,
        f"{result.vertices:,} vertices, {result.edges:,} edges{which}; nothing was written to the database",
    )
    _note_seconds(read=result.pre_processing_millis, search=result.compute_millis)


def print_stats(result: StatsResult) -> None:
    """Print sizes and densities."""
    rows = [_summary_row(p, summary) for p, summary in result.summaries.items()]
    print_table(SUMMARY, rows, result.caption())
    _note_seconds(read=result.pre_processing_millis, search=result.compute_millis)


def print_steadiness(result: SteadinessResult) -> None:
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


def print_estimate(result: EstimateResult) -> None:
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
