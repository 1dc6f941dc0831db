"""The table of private triangle counting: cells, Markdown and CSV."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from evaluation.beside.compared_graphs import GRAPHS
from evaluation.beside.losses_found import as_degrees_grow, worst_loss
from evaluation.beside.papers import DIFFERENCE, LEMMA, MECHANISMS, PUBLISHED, SCORE, UNREAD, P, Published, runs_of
from evaluation.beside.simulated_runs import ORIENTED, standard_error_of_respond
from evaluation.cells import BesideCell
from evaluation.claims.judging import digits
from evaluation.datasets import EvaluatedGraph
from evaluation.finished_cells import Selection
from evaluation.kept_files import as_csv
from evaluation.results import Beside, Refused
from evaluation.tables import markdown
from pcneo.counting.cliques import clique_counts
from pcneo.privacy.mechanisms import MECHANISMS as OURS


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


def median_of(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the median of the absolute values, between the ends of its 95 % interval by order statistics.

    The interval assumes nothing of their distribution; of five runs or fewer it is the extremes.
    """
    ordered, n = sorted(map(abs, values)), len(values)
    outside, skipped = 0.0, 0
    while skipped < (n - 1) // 2 and (outside := outside + math.comb(n, skipped) / 2**n) <= 0.025:
        skipped += 1
    low = max(0, skipped - 1)
    return ordered[low], float(np.median(ordered)), ordered[n - 1 - low]


def mean_of_five(values: Sequence[float]) -> tuple[float, float]:
    """Return where the mean absolute error of five runs lies in 95 % of cases, by drawing five again and again."""
    rng = np.random.default_rng(0)
    means = rng.choice(np.abs(values), (10_000, 5)).mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975]).tolist()
    return low, high


Rows: TypeAlias = Selection[BesideCell, Beside | Refused]
"""Finished cells with their results."""


def beside_csv(rows: Rows) -> str:
    """Return every run as CSV."""
    lines: list[list[object]] = []
    for cell, result in rows:
        at = [cell.graph, cell.mechanism, cell.epsilon]
        if "refused" in result:
            lines.append([*at, "", "", "", result["refused"]])
            continue
        vertices = result.get("vertices")
        for run, total in enumerate(result["totals"]):
            lines.append([*at, run, f"{total:.6g}", "" if vertices is None else f"{vertices[run]:.6g}", ""])
    columns = ["graph", "mechanism", "epsilon", "run", "error_of_total", "error_of_vertex", "refused"]
    return as_csv(columns, lines)


def beside_text(rows: Rows, graphs: Mapping[str, EvaluatedGraph], command: str) -> str:
    """Return the report in Markdown."""
    names = [name for name in graphs if len(rows.where(graph=name))]
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
    if len(rows.where(mechanism=ORIENTED)):
        parts += ["### Where a published proof does not cover the mechanism", _lemma()]
    parts += [f"## {name}\n\n{_graph(graphs[name], rows.where(graph=name))}" for name in names]
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


def _promises(rows: Rows, n: int) -> str:
    epsilons = rows.values(lambda cell: cell.epsilon)
    lines = []
    for name in rows.values(lambda cell: cell.mechanism):
        about = MECHANISMS[name]
        losses = [worst_loss(name, epsilon) for epsilon in epsilons]
        found = [f"{loss.value / float(epsilon):.3f}" for loss, epsilon in zip(losses, epsilons, strict=True)]
        lines.append([about.label, about.promises, *found, losses[0].how, about.traffic(n), about.trust, about.source])
    head = ["mechanism", "promises", *(f"worst loss/ε, ε={epsilon}" for epsilon in epsilons), "how it was found"]
    return markdown([*head, f"messages and bytes, {n:,} vertices", "who is trusted", "described in"], lines)


def _graph(graph: EvaluatedGraph, rows: Rows) -> str:
    """The tables of one graph, from its rows."""
    at = {(cell.mechanism, cell.epsilon): result for cell, result in rows}
    runs = {cell.mechanism: cell.runs for cell, _ in rows}
    epsilons = rows.values(lambda cell: cell.epsilon)
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


def _published(figure: Published, rows: Rows) -> list[str] | None:
    result = rows.only(graph=figure.graph, mechanism=figure.mechanism, epsilon="1")
    if result is None or "refused" in result:
        return None
    low, high = mean_of_five(result["totals"])
    met = "within" if low <= figure.figure <= high else "not met"
    return [figure.graph, figure.mechanism, f"{figure.figure:g}", f"{low:.2g} to {high:.2g}", met, figure.source]
