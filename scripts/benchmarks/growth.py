"""The cost of a vertex by its degree and by the size of the graph, on arrays; with a plot."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.graphs import as_arrays, made_graph
from benchmarks.measuring import SEED, Line, Setting, say

EDGES = (62_500, 125_000, 250_000, 500_000, 1_000_000, 2_000_000)
FAR_EDGES = EDGES[:4]
PS = ("0.1", "0.3")
FAR = "0.3, nobody near"
"""The name of the graphs whose groups come from anywhere, where every expansion reaches the same few hubs."""
A_CLASS = {"0.1": 3_000, "0.3": 1_000}
"""The most vertices to search in a class of degrees."""
A_GRAPH = {"0.1": 20_000, "0.3": 1_000}
"""The vertices to search in a graph."""
LINEAR = 1.15
"""The largest exponent that counts as linear: measured exponents are off by a few hundredths."""


def growth(setting: Setting) -> Iterator[Line]:
    """Processor time of a search by degree and by n, on generated graphs; pictures are saved beside the results."""
    by_n: dict[str, list[tuple[float, float]]] = {p: [] for p in (*PS, FAR)}
    for edges in FAR_EDGES:
        by_n[FAR].append(_some(as_arrays(*made_graph(edges, SEED, 1)), "0.3"))
    *smaller, largest = EDGES
    for edges in smaller:
        _add_some(as_arrays(*made_graph(edges, SEED)), by_n)
    graph = as_arrays(*made_graph(largest, SEED))
    _add_some(graph, by_n)
    by_degree = {p: list(_degrees(graph, p)) for p in PS}
    _draw(setting, by_degree, by_n, f"{graph.vertex_count:,} vertices, {graph.edge_count:,} edges")
    for what, curves in (("n", by_n), ("degree", by_degree)):
        for p, points in curves.items():
            shown = ", ".join(f"{x:,.0f}: {cost:,.3g}" for x, cost in points)
            yield Line(
                f"processor time of a vertex by {what}, made graphs, p={p}: exponent of the growth",
                [_exponent(points)],
                "",
                note=f"{_linear_until(points)}; µs by {what}: {shown}; one thread, seed {SEED}",
            )


def _some(graph: Any, p: str) -> tuple[float, float]:
    """The number of vertices, and the cost of a random vertex."""
    random = np.random.default_rng(SEED)
    some = random.choice(graph.vertex_count, min(A_GRAPH[p], graph.vertex_count), replace=False)
    cost = _cost(graph, p, some)
    say(f"  n={graph.vertex_count:,}, p={p}: {cost:.1f} µs a vertex")
    return float(graph.vertex_count), cost


def _cost(graph: Any, p: str, vertices: Sequence[int] | Any) -> float:
    """Microseconds of processor time per vertex, on one thread, without the fixed cost of a search of this graph."""
    from pcneo.search import search_all

    quick = [int(graph.degrees.argmin())]

    def seconds(chosen: list[int]) -> float:
        started = time.process_time()
        search_all(graph, p, vertices=chosen, concurrency=1)
        return time.process_time() - started

    chosen = [int(v) for v in vertices]
    seconds(quick)
    begin = min(seconds(quick) for _ in range(3))
    return max(1e-3, 1e6 * (min(seconds(chosen) for _ in range(2)) - begin) / len(chosen))


def _degrees(graph: Any, p: str) -> Iterator[tuple[float, float]]:
    """The mean degree and the cost of a vertex, by classes of doubling degree."""
    random = np.random.default_rng(SEED)
    least = 2
    while least <= graph.degrees.max():
        of_class = np.flatnonzero((graph.degrees >= least) & (graph.degrees < 2 * least))
        if len(of_class) >= 10:
            some = random.choice(of_class, min(A_CLASS[p], len(of_class)), replace=False)
            cost = _cost(graph, p, some)
            say(f"  degree {least} to {2 * least - 1}, p={p}: {cost:.1f} µs a vertex")
            yield float(graph.degrees[some].mean()), cost
        least *= 2


def _exponent(points: Sequence[tuple[float, float]]) -> float:
    """The slope of a straight line through the points on logarithmic axes."""
    xs, ys = np.log(np.array(points)).T
    return float(np.polyfit(xs, ys, 1)[0])


def _linear_until(points: Sequence[tuple[float, float]]) -> str:
    """The point up to which growth is at most linear, by the slope through each point and the next two."""
    for first in range(len(points) - 2):
        exponent = _exponent(points[first : first + 3])
        if exponent > LINEAR:
            x, further = points[first][0], points[first + 2][0]
            return f"linear or less up to {x:,.0f}, from there to {further:,.0f} with the power {exponent:.2f}"
    return f"linear or less throughout, up to {points[-1][0]:,.0f}"


def _add_some(graph: Any, by_n: dict[str, list[tuple[float, float]]]) -> None:
    for p in PS:
        by_n[p].append(_some(graph, p))


def _draw(
    setting: Setting,
    by_degree: dict[str, list[tuple[float, float]]],
    by_n: dict[str, list[tuple[float, float]]],
    graph: str,
) -> None:
    from pcneo import plots

    labels = {FAR: "p=0.3, nobody near:\ngroup members from anywhere"}
    looks = {"0.1": ("#0072B2", "o", "-"), "0.3": ("#D55E00", "s", "--"), FAR: ("#009E73", "^", "-.")}
    with plots.new_figure(1, 2, width=plots.PAGE, height=3.0) as (figure, axes):
        left, right = axes[0]
        for p, (colour, marker, dash) in looks.items():
            style: dict[str, Any] = {
                "color": colour,
                "marker": marker,
                "linestyle": dash,
                "label": labels.get(p, f"p={p}"),
            }
            if p in by_degree:
                left.plot(*zip(*by_degree[p], strict=True), **style)
            right.plot(*zip(*by_n[p], strict=True), **style)
        degrees = np.array([x for x, _ in by_degree["0.3"]])
        cost = by_degree["0.3"][0][1]
        left.plot(degrees, cost * degrees / degrees[0], color="#888888", linestyle=":", label="linear")
        left.set(
            xscale="log",
            yscale="log",
            xlabel="degree",
            ylabel="processor time per vertex (µs)",
            title=f"by degree, {graph}",
        )
        right.set(
            xscale="log",
            yscale="log",
            xlabel="vertices n",
            ylabel="processor time per vertex (µs)",
            title="by size of the graph",
        )
        named = [pair for place in (right, left) for pair in zip(*place.get_legend_handles_labels(), strict=True)]
        handles = {label: handle for handle, label in named}
        figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=4)
        setting.to.mkdir(parents=True, exist_ok=True)
        for ending in (".svg", ".png"):
            plots.save_figure(figure, setting.to / f"growth{ending}")
