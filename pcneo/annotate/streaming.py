"""Modes `stream` and `stats`: cohesions one by one, or described; nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from pcneo.annotate.plan import Frontier, Options, P, Plan, batches_of, cohesions_of, make_plan
from pcneo.model import Cohesion, Key
from pcneo.plots import check_picture, draw_distributions
from pcneo.search import p_text
from pcneo.search.summary import Summary, Tally

if TYPE_CHECKING:
    from neo4j import Driver

__all__ = ["StatsResult", "stats", "stream"]


@dataclass(frozen=True)
class StatsResult:
    """What `stats` found: for each p (as `a/b`) the sizes and densities; fields as in `WriteResult`."""

    node_count: int
    relationship_count: int
    vertices: int
    edges: int
    summaries: dict[str, Summary]
    pre_processing_millis: int
    compute_millis: int
    configuration: dict[str, Any]


def stream(
    driver: Driver, database: str | None = None, *, p: P | Sequence[P], **options: Unpack[Options]
) -> Iterator[Cohesion]:
    """Yield the minimal p-cohesions, for each p in the order of the vertices; nothing is written.

    Arguments and errors as in `write`. What can be checked without reading the graph is checked at the call.
    """
    return _stream(make_plan(driver, database, "stream", p, options))


def _stream(plan: Plan) -> Iterator[Cohesion]:
    if plan.vertices is not None:
        frontier = Frontier(plan)
        for p in plan.ps:
            yield from cohesions_of(plan, frontier, plan.vertices, p)
        return
    graph = plan.read().graph
    for p in plan.ps:
        for batch in batches_of(plan, graph, p):
            yield from batch.cohesions(graph)


def stats(
    driver: Driver,
    database: str | None = None,
    *,
    p: P | Sequence[P],
    plot: Path | None = None,
    **options: Unpack[Options],
) -> StatsResult:
    """Describe the sizes and densities of the minimal p-cohesions; nothing is written to the database.

    Arguments and errors as in `write`, and `plot`: a picture of both, `.svg` or `.png`, which needs matplotlib.
    """
    if plot is not None:
        check_picture(plot)
    plan = make_plan(driver, database, "stats", p, options)
    result, tallies = _stats_of_graph(plan) if plan.vertices is None else _stats_of_vertices(plan, plan.vertices)
    if plot is not None:
        runs = {p: (tally.sizes, tally.densities) for p, tally in tallies.items()}
        draw_distributions(runs, plan.score, plot, vertices=result.vertices if plan.vertices is None else None)
    return result


def _stats_of_graph(plan: Plan) -> tuple[StatsResult, dict[str, Tally]]:
    stored = plan.read()
    read_millis = plan.millis()
    tallies = {p_text(p): Tally() for p in plan.ps}
    for p in plan.ps:
        for batch in batches_of(plan, stored.graph, p):
            tallies[p_text(p)].add(batch)
    result = StatsResult(
        node_count=stored.node_count,
        relationship_count=stored.relationship_count,
        vertices=stored.graph.vertex_count,
        edges=stored.graph.edge_count,
        summaries={p: tally.summary() for p, tally in tallies.items()},
        pre_processing_millis=read_millis,
        compute_millis=plan.millis() - read_millis,
        configuration=plan.configuration,
    )
    return result, tallies


def _stats_of_vertices(plan: Plan, vertices: Sequence[Key]) -> tuple[StatsResult, dict[str, Tally]]:
    frontier = Frontier(plan)
    prepared = plan.millis()
    tallies = {p_text(p): Tally() for p in plan.ps}
    for p in plan.ps:
        tallies[p_text(p)].add_cohesions(cohesions_of(plan, frontier, vertices, p))
    result = StatsResult(
        node_count=plan.gateway.count_nodes(plan.selection),
        relationship_count=plan.gateway.count_relationships(plan.selection),
        vertices=frontier.vertices,
        edges=frontier.edges,
        summaries={p: tally.summary() for p, tally in tallies.items()},
        pre_processing_millis=prepared,
        compute_millis=plan.millis() - prepared,
        configuration=plan.configuration,
    )
    return result, tallies
