"""Mode `write`: cohesions stored as hubs and memberships, the search and the writing going on side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Unpack

from pcneo.annotate.plan import Frontier, Options, P, Plan, Stopwatch, batches_of, cohesions_of, make_plan
from pcneo.annotate.run_writer import GraphWriter, row_of, rows_of, writer_of
from pcneo.graph import MembershipHash, fingerprint
from pcneo.model import Key
from pcneo.search import p_text
from pcneo.search.summary import Summary, Tally
from pcneo.store.chosen_graph import StoredGraph

if TYPE_CHECKING:
    from neo4j import Driver

__all__ = ["WriteResult", "WrittenRun", "write"]


@dataclass(frozen=True)
class WrittenRun:
    """One stored run: identifier, p as `a/b`, score, scope, and what its cohesions look like."""

    run: str
    p: str
    score: str
    scope: str
    summary: Summary


@dataclass(frozen=True)
class WriteResult:
    """What `write` did; counts of relationships include one `HAS_COHESION` a hub.

    Attributes:
        graph: the graph's name.
        node_count, relationship_count: the count store's.
        vertices, edges: the graph's as ALGORITHM.md#the-graph defines them; for single vertices, what was read.
        runs: one for each p.
        relationships_written: of every run.
        pre_processing_millis: choosing, checking and reading.
        compute_millis: waiting for the search.
        write_millis: the rest: writing goes on while the search computes.
        configuration: what was asked for, defaults filled in.
    """

    graph: str
    node_count: int
    relationship_count: int
    vertices: int
    edges: int
    runs: tuple[WrittenRun, ...]
    relationships_written: int
    pre_processing_millis: int
    compute_millis: int
    write_millis: int
    configuration: dict[str, Any]


def write(
    driver: Driver,
    database: str | None = None,
    *,
    p: P | Sequence[P],
    graph: str | None = None,
    **options: Unpack[Options],
) -> WriteResult:
    """Find the minimal p-cohesions and store them as hubs and memberships (DATA-MODEL.md#hubs-and-memberships).

    Args:
        driver: an open driver; see `pcneo.connect`.
        database: None for the user's home database.
        p: one or several; several share the read.
        graph: the owner's name for that part of the database; by default `Selection.default_name`.
        **options: see `Options`.

    Raises:
        PcneoError: see `pcneo.errors`; the previous run stays as it was.
    """
    plan = make_plan(driver, database, "write", p, options)
    name = graph or plan.selection.default_name
    plan.configuration["graph"] = name
    with writer_of(plan.gateway, name, plan.selection) as writer:
        return _write_graph(plan, writer) if plan.vertices is None else _write_vertices(plan, writer, plan.vertices)


def _write_graph(plan: Plan, writer: GraphWriter) -> WriteResult:
    stored = plan.read()
    read_millis = plan.millis()
    waited = Stopwatch()
    runs = [_write_run(plan, writer, stored, p, waited) for p in plan.ps]
    writer.complete()
    return WriteResult(
        graph=writer.graph.name,
        node_count=stored.node_count,
        relationship_count=stored.relationship_count,
        vertices=stored.graph.vertex_count,
        edges=stored.graph.edge_count,
        runs=tuple(runs),
        relationships_written=sum(run.summary.memberships + run.summary.cohesions for run in runs),
        pre_processing_millis=read_millis,
        compute_millis=waited.millis,
        write_millis=plan.millis() - read_millis - waited.millis,
        configuration=plan.configuration,
    )


def _write_run(plan: Plan, writer: GraphWriter, stored: StoredGraph, p: Fraction, waited: Stopwatch) -> WrittenRun:
    run = writer.begin_run(p, plan.score, "graph")
    tally, digest = Tally(), MembershipHash()

    def rows() -> Iterator[dict[str, Any]]:
        for batch in waited.around(batches_of(plan, stored.graph, p)):
            tally.add(batch)
            digest.update(stored.graph, batch)
            yield from rows_of(stored.graph, batch)

    written = 0
    for memberships in writer.write_rows(run, rows()):
        written += memberships
        if plan.progress:
            plan.progress(f"writing p={p_text(p)}", written, None)
    summary = tally.summary()
    run.values = _record(
        stored.node_count,
        stored.relationship_count,
        stored.graph.vertex_count,
        stored.graph.edge_count,
        written,
        fingerprint(stored.graph, bytes.fromhex(writer.graph.fingerprint_key)),
        digest.hexdigest(),
    )
    return WrittenRun(run.id, p_text(p), plan.score, "graph", summary)


def _record(
    node_count: int,
    relationship_count: int,
    vertices: int,
    edges: int,
    memberships: int,
    print_: str | None,
    digest: str,
) -> dict[str, Any]:
    return {
        "nodeCount": node_count,
        "relationshipCount": relationship_count,
        "vertices": vertices,
        "edges": edges,
        "memberships": memberships,
        "fingerprint": print_,
        "membershipHash": digest,
    }


def _write_vertices(plan: Plan, writer: GraphWriter, vertices: Sequence[Key]) -> WriteResult:
    frontier = Frontier(plan)
    read_millis = plan.millis()
    node_count = plan.gateway.count_nodes(plan.selection)
    relationship_count = plan.gateway.count_relationships(plan.selection)
    ascending = sorted(vertices, key=lambda key: (isinstance(key, str), key))
    runs = [
        _write_vertices_run(plan, writer, frontier, ascending, p, (node_count, relationship_count)) for p in plan.ps
    ]
    writer.complete()
    return WriteResult(
        graph=writer.graph.name,
        node_count=node_count,
        relationship_count=relationship_count,
        vertices=frontier.vertices,
        edges=frontier.edges,
        runs=tuple(runs),
        relationships_written=sum(run.summary.memberships + run.summary.cohesions for run in runs),
        pre_processing_millis=read_millis,
        compute_millis=frontier.waited.millis,
        write_millis=plan.millis() - read_millis - frontier.waited.millis,
        configuration=plan.configuration,
    )


def _write_vertices_run(
    plan: Plan, writer: GraphWriter, frontier: Frontier, ascending: Sequence[Key], p: Fraction, counts: tuple[int, int]
) -> WrittenRun:
    run = writer.begin_run(p, plan.score, "vertices")
    tally, digest = Tally(), MembershipHash()

    def rows() -> Iterator[dict[str, Any]]:
        for cohesion in cohesions_of(plan, frontier, ascending, p):
            run.owners.append(cohesion.vertex)
            tally.add_cohesions([cohesion])
            digest.add(cohesion.vertex, cohesion.members)
            yield row_of(cohesion)

    written = sum(writer.write_rows(run, rows()))
    run.values = _record(*counts, frontier.vertices, frontier.edges, written, None, digest.hexdigest())
    return WrittenRun(run.id, p_text(p), plan.score, "vertices", tally.summary())
