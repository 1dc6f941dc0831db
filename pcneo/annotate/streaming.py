"""Modes `stream` and `stats`: cohesions one by one, or described; nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from pcneo.annotate.plan import Frontier, Options, P, Plan, batches_of, cohesions_of, make_plan
from pcneo.model import Cohesion, Key
from pcneo.search import p_text
from pcneo.summary import Summary, Tally

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
    driver: Driver, database: str | None = None, *, p: P | Sequence[P], **options: Unpack[Options]
) -> StatsResult:
    """Describe the sizes and densities of the minimal p-cohesions; nothing is written.

    Arguments and errors as in `write`.
    """
    plan = make_plan(driver, database, "stats", p, options)
    return _stats_of_graph(plan) if plan.vertices is None else _stats_of_vertices(plan, plan.vertices)


def _stats_of_graph(plan: Plan) -> StatsResult:
    stored = plan.read()
    read_millis = plan.millis()
    summaries = {}
    for p in plan.ps:
        tally = Tally()
        for batch in batches_of(plan, stored.graph, p):
            tally.add(batch)
        summaries[p_text(p)] = tally.summary()
    return StatsResult(
        node_count=stored.node_count,
        relationship_count=stored.relationship_count,
        vertices=stored.graph.vertex_count,
        edges=stored.graph.edge_count,
        summaries=summaries,
        pre_processing_millis=read_millis,
        compute_millis=plan.millis() - read_millis,
        configuration=plan.configuration,
    )


def _stats_of_vertices(plan: Plan, vertices: Sequence[Key]) -> StatsResult:
    frontier = Frontier(plan)
    prepared = plan.millis()
    summaries = {p_text(p): Summary.of(cohesions_of(plan, frontier, vertices, p)) for p in plan.ps}
    return StatsResult(
        node_count=plan.gateway.count_nodes(plan.selection),
        relationship_count=plan.gateway.count_relationships(plan.selection),
        vertices=frontier.vertices,
        edges=frontier.edges,
        summaries=summaries,
        pre_processing_millis=prepared,
        compute_millis=plan.millis() - prepared,
        configuration=plan.configuration,
    )
