"""The report on answers as Markdown and CSV."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, fields
from itertools import groupby

from evaluation.answers.minimum import SECONDS
from evaluation.answers.set_figures import PS, Figures
from evaluation.kept_files import as_csv
from evaluation.tables import RECONSTRUCTED, markdown

_NOTE = (
    "Means over vertices that were drawn from a fixed seed. Own group: the share of the other members that are in the "
    "group of the set's owner; found: the share of that group that is in the set. Same: the share of further "
    "numberings of the vertices, which only break ties (Louvain: of other seeds), that give the same set. Changed: the "
    "share of sets that differ once 1 % of the connections have been removed. Time is processor time a vertex, one "
    "thread. Beside the searches stands what could be taken instead: a vertex with its neighbours; its component among "
    "all vertices of its core number and more; its community by Louvain's method (networkx)."
)

_COMPARED = ("density", "same", "changed", "own_group", "found")


def answers_text(figures: Sequence[Figures], command: str) -> str:
    """Return the report in Markdown."""
    parts = [
        "# How good the answers are",
        f"Made by `{command}`. {RECONSTRUCTED}",
        "## In short",
        _in_short(figures),
        _NOTE,
        "![sizes, groups, sameness](answers.svg)",
        "All numbers, as CSV: [answers.csv](answers.csv).",
        "## Against the proven minimum",
        f"CP-SAT has {SECONDS:g} s of its deterministic time for each of two questions: the least size of a p-cohesion "
        "around the vertex, and the most connections at that size. What it did not prove is left out, and so are "
        "models too large to write down: the vertices that remain are easier than the rest. Connections are compared "
        "where the set has the least size.",
        _gaps(figures),
    ]
    for graph, rows in groupby(figures, key=lambda one: one.graph):
        parts += [f"## {graph}", _table(list(rows))]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def answers_csv(figures: Iterable[Figures]) -> str:
    """Return all figures as CSV, a row each; empty where there is none."""
    return as_csv([field.name for field in fields(Figures)], map(astuple, figures))


def _by_search(figures: Iterable[Figures]) -> Mapping[tuple[str, str], Mapping[str, Figures]]:
    """Group the figures of searches: by graph and p, then by search."""
    cells: dict[tuple[str, str], dict[str, Figures]] = {}
    for one in figures:
        if one.p:
            cells.setdefault((one.graph, one.p), {})[one.way] = one
    return cells


def _in_short(figures: Sequence[Figures]) -> str:
    """What `smallest` gives beside `density`, at each p, over all graphs."""
    cells, rows = _by_search(figures), []
    for p in PS:
        pairs = [(of["density"], of["smallest"]) for (_, at), of in cells.items() if at == p]
        if not pairs:
            continue
        ratios = sorted(new.size / old.size for old, new in pairs)
        means = [f"{_mean(pairs, name, 0)} -> {_mean(pairs, name, 1)}" for name in _COMPARED]
        range_of = f"{ratios[len(ratios) // 2]:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        rows.append([p, str(len(pairs)), range_of, *means])
    columns = [name.replace("_", " ") for name in _COMPARED]
    head = ["p", "graphs", "size, `smallest` over `density`: middle (range)", *columns]
    means = "Means over graphs, `density` -> `smallest`; agreement with groups over the graphs whose groups are known."
    return f"{means}\n\n{markdown(head, rows)}"


def _mean(pairs: Sequence[tuple[Figures, Figures]], name: str, which: int) -> str:
    values = [value for pair in pairs if (value := getattr(pair[which], name)) is not None]
    return f"{sum(values) / len(values):.2f}" if values else ""


def _gaps(figures: Iterable[Figures]) -> str:
    rows = []
    for (graph, p), of in _by_search(figures).items():
        new, old = of["smallest"], of["density"]
        if new.solved:
            proved = f"{new.solver_proved} of {new.solved}"
            edges = f"{_cell(new.of_most_edges)} ({new.edges_proved})"
            rows.append([graph, p, proved, _cell(new.over_least), _cell(old.over_least), edges, _cell(new.proven)])
    head = ["graph", "p", "proved", "size over the least, `smallest`", "`density`", "connections over the most (of)"]
    return markdown([*head, "proven by the search itself"], rows)


def _table(rows: Sequence[Figures]) -> str:
    lines = [
        [
            one.way,
            one.p,
            str(one.vertices),
            f"{one.size:,.1f}",
            *map(_cell, (one.density, one.own_group, one.found, one.same, one.changed)),
            f"{one.micros:,.0f} µs",
        ]
        for one in rows
    ]
    return markdown(["by", "p", "vertices", "size", "density", "own group", "found", "same", "changed", "time"], lines)


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
