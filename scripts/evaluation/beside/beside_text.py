"""The table of private triangle counting: cells, Markdown and CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.beside.compared_graphs import GRAPHS
from evaluation.beside.losses_found import as_degrees_grow, worst_loss
from evaluation.beside.papers import DIFFERENCE, LEMMA, MECHANISMS, PUBLISHED, SCORE, UNREAD, P, Published, runs_of
from evaluation.beside.simulated_runs import standard_error_of_respond
from evaluation.cells import BesideCell
from evaluation.claims.judging import digits
from evaluation.datasets import EvaluatedGraph
from evaluation.results import Beside, Refused, Result
from evaluation.tables import markdown
from pcneo.counting.cliques import clique_counts
from pcneo.privacy.mechanisms import MECHANISMS as OURS

__all__ = ["Median", "Row", "beside_csv", "beside_text", "cells_of", "mean_of_five", "median_of", "rows_of"]


def cells_of(
    graphs: Mapping[str, EvaluatedGraph], mechanisms: Iterable[str], epsilons: Sequence[str]
) -> list[BesideCell]:
    """Return a cell for each graph, mechanism and ε."""
    return [
        BesideCell(
            graph=graph.name,
            content=graph.content,
            mechanism=name,
            k=3,
            epsilon=epsilon,
            runs=runs_of(name, graph.graph.vertex_count),
            p=P if _grouped(name) else None,
            score=SCORE if _grouped(name) else None,
        )
        for graph in graphs.values()
        for name in mechanisms
        for epsilon in epsilons
    ]


def _grouped(name: str) -> bool:
    return name in OURS and OURS[name].needs_groups


class Median(tuple[float, float, float]):
    """The median, and the ends of its 95 % interval by order statistics; of five runs or fewer the extremes."""

    __slots__ = ()


def median_of(values: Sequence[float]) -> Median:
    """Return the median of the absolute values with its interval, which assumes nothing of their distribution."""
    ordered, n = sorted(map(abs, values)), len(values)
    outside, skipped = 0.0, 0
    while skipped < (n - 1) // 2 and (outside := outside + math.comb(n, skipped) / 2**n) <= 0.025:
        skipped += 1
    low = max(0, skipped - 1)
    return Median((ordered[low], float(np.median(ordered)), ordered[n - 1 - low]))


def mean_of_five(values: Sequence[float]) -> tuple[float, float]:
    """Return where the mean absolute error of five runs lies in 95 % of cases, by drawing five again and again."""
    rng = np.random.default_rng(0)
    means = rng.choice(np.abs(values), (10_000, 5)).mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975]).tolist()
    return low, high


@dataclass(frozen=True)
class Row:
    """A finished cell."""

    cell: BesideCell
    result: Beside | Refused


def rows_of(cells: Iterable[BesideCell], results: Iterable[Result | None]) -> list[Row]:
    """Pair cells with their results, and leave out what is not finished."""
    return [
        Row(cell, result)  # pyright: ignore[reportArgumentType]  a cell of this kind has no other result
        for cell, result in zip(cells, results, strict=True)
        if result is not None
    ]


def beside_csv(rows: Iterable[Row]) -> str:
    """Return every run as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["graph", "mechanism", "epsilon", "run", "error_of_total", "error_of_vertex", "refused"])
    for row in rows:
        at = [row.cell.graph, row.cell.mechanism, row.cell.epsilon]
        if "refused" in row.result:
            writer.writerow([*at, "", "", "", row.result["refused"]])
            continue
        vertices = row.result.get("vertices")
        for run, total in enumerate(row.result["totals"]):
            writer.writerow([*at, run, f"{total:.6g}", "" if vertices is None else f"{vertices[run]:.6g}", ""])
    return text.getvalue()


def beside_text(rows: Sequence[Row], graphs: Mapping[str, EvaluatedGraph], command: str) -> str:
    """Return the report in Markdown."""
    names = [name for name in graphs if any(row.cell.graph == name for row in rows)]
    parts = [
        "# Private triangle counting, side by side",
        f"Made by `{command}`. k=3; ε is that of one connection in every row: each mechanism below counts so, and none "
        "had to be converted. (Where both ends answer for a connection and ε is that of one adjacency list, a "
        "connection costs 2ε.) Everything was implemented here from descriptions; noise is simulated and seeded.",
        "At equal ε the mechanisms promise different things. `critical` promises less than the others: pairs inside "
        "groups only, given the groups.",
        *_absent(names),
        "![errors of the total](beside.svg)",
        "Every run, as CSV: [beside.csv](beside.csv). One row alone takes a minute: `scripts/evaluate beside --graphs "
        "FOLDER --graph wiki-Vote --mechanism oriented -e 1 --to FOLDER`.",
        "## What each promises, and what one connection really loses",
        _promises(rows, max((graph.graph.vertex_count for graph in graphs.values()), default=0)),
        "A loss is in units of ε: 1 is what is promised. For (ε, δ) it is the worst but for failures of probability "
        "δ. `critical` loses that inside groups; outside them connections are not protected at all.",
    ]
    if any(row.cell.mechanism == "oriented" for row in rows):
        parts += ["### Where a published proof does not cover the mechanism", _lemma()]
    parts += [f"## {name}\n\n{_graph(name, graphs[name], rows)}" for name in names]
    if lines := [line for figure in PUBLISHED if (line := _published(figure, rows))]:
        head = ["graph", "mechanism", "published, ε=1", "ours: mean of five runs, 95 %", "", "source"]
        parts += ["## Published figures", markdown(head, lines)]
        if any("not met" in line for line in lines):
            parts.append(DIFFERENCE)
    parts += [
        "## Not implemented",
        "These five papers could not be read whole, and so are not implemented: the table is not one of all that was "
        "published.",
        markdown(["paper", "why"], [[paper, why] for paper, why in UNREAD.items()]),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _absent(names: Sequence[str]) -> list[str]:
    absent = [dataset.name for dataset in GRAPHS if dataset.name not in names]
    return [f"Graphs of the table that this report does not have: {', '.join(absent)}."] if absent else []


def _lemma() -> str:
    worst = worst_loss("oriented", "1")
    return LEMMA.format(
        edges=", ".join(f"{a}-{b}" for a, b in worst.graph),
        added="-".join(map(str, worst.added or ())),
        value=worst.value,
        limit=as_degrees_grow(1.0),
        small=as_degrees_grow(0.5),
    )


def _present(rows: Iterable[Row], of: str) -> list[str]:
    return list(dict.fromkeys(getattr(row.cell, of) for row in rows))


def _promises(rows: Sequence[Row], n: int) -> str:
    epsilons = _present(rows, "epsilon")
    lines = []
    for name in _present(rows, "mechanism"):
        about = MECHANISMS[name]
        losses = [worst_loss(name, epsilon) for epsilon in epsilons]
        found = [f"{loss.value / float(epsilon):.3f}" for loss, epsilon in zip(losses, epsilons, strict=True)]
        lines.append([about.label, about.promises, *found, losses[0].how, about.traffic(n), about.trust, about.source])
    head = ["mechanism", "promises", *(f"worst loss/ε, ε={epsilon}" for epsilon in epsilons), "how it was found"]
    return markdown([*head, f"messages and bytes, {n:,} vertices", "who is trusted", "described in"], lines)


def _graph(name: str, graph: EvaluatedGraph, rows: Sequence[Row]) -> str:
    at = {(row.cell.mechanism, row.cell.epsilon): row.result for row in rows if row.cell.graph == name}
    runs = {row.cell.mechanism: row.cell.runs for row in rows if row.cell.graph == name}
    epsilons = list(dict.fromkeys(epsilon for _, epsilon in at))
    counts = graph.dataset.counts
    zeros = float(clique_counts(graph.graph, 3).mean())
    lines = [[MECHANISMS[m].label, *(_total(at.get((m, e))) for e in epsilons), str(runs[m])] for m in runs]
    if "respond" in runs:
        closed = [digits(standard_error_of_respond(graph.graph, e) / counts.triangles) for e in epsilons]
        lines.append(["respond: standard error over the total, closed form", *closed, ""])
    of_vertices = [
        [MECHANISMS[m].label, *(_vertex(at.get((m, e))) for e in epsilons)]
        for m in runs
        if any("vertices" in (at.get((m, e)) or {}) for e in epsilons)
    ]
    text = (
        f"{graph.dataset.what}, {graph.dataset.source}: {counts}.\n\nRelative error of the total: median of the runs, "
        "with the 95 % interval of the median (of fewer than six runs the extremes).\n\n"
    ).lstrip(", :")
    text += markdown(["", *(f"ε={e}" for e in epsilons), "runs"], lines)
    if of_vertices:
        of_vertices.append(["publishing zeros", *[digits(zeros)] * len(epsilons)])
        text += "\nMean absolute error of a vertex's count, over vertices and runs; the total alone has none.\n\n"
        text += markdown(["", *(f"ε={e}" for e in epsilons)], of_vertices)
    return text


def _total(result: Beside | Refused | None) -> str:
    if result is None:
        return "-"
    if "refused" in result:
        return "refused"
    low, middle, high = median_of(result["totals"])
    return f"{middle:.2g} ({low:.2g} to {high:.2g})"


def _vertex(result: Beside | Refused | None) -> str:
    if result is None or "refused" in result:
        return "refused" if result else "-"
    return digits(float(np.mean(result["vertices"]))) if "vertices" in result else "-"


def _published(figure: Published, rows: Sequence[Row]) -> list[str] | None:
    for row in rows:
        cell, result = row.cell, row.result
        if (cell.graph, cell.mechanism, cell.epsilon) == (figure.graph, figure.mechanism, "1") and "totals" in result:
            low, high = mean_of_five(result["totals"])
            met = "within" if low <= figure.figure <= high else "not met"
            return [figure.graph, cell.mechanism, f"{figure.figure:g}", f"{low:.2g} to {high:.2g}", met, figure.source]
    return None
