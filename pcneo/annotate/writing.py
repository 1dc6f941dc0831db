"""Mode `write`: cohesions stored as hubs and memberships, the search and the writing going on side by side."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from pcneo.annotate.plan import Configuration, Options, P, Plan, make_plan
from pcneo.annotate.run_writer import GraphWriter, rows_of, writer_of
from pcneo.annotate.supply import Supply, supply_of
from pcneo.graph import MembershipHash
from pcneo.model import Key, Progress
from pcneo.search import p_text
from pcneo.search.tally import Summary, Tally
from pcneo.store.gateway import CohesionRow
from pcneo.store.transaction import RunFigures

if TYPE_CHECKING:
    from neo4j import Driver

__all__ = ["WriteResult", "WrittenRun", "write"]

T = TypeVar("T")


@dataclass(frozen=True)
class WrittenRun:
    """One stored run.

    Attributes:
        run: its identifier.
        p: as `a/b`.
        score: name of the score.
        scope: `graph` or `vertices`.
        summary: sizes and densities of its cohesions.
    """

    run: str
    p: str
    score: str
    scope: str
    summary: Summary


@dataclass(frozen=True)
class WriteResult:
    """What `write` did.

    Attributes:
        graph: the graph's name.
        node_count, relationship_count: the count store's.
        vertices, edges: of the graph (ALGORITHM.md#the-graph); where vertices were named, those that the search looked
            at.
        runs: one for each p.
        relationships_written: memberships of every run, and one `HAS_COHESION` a hub.
        pre_processing_millis: choosing, checking and reading.
        compute_millis: waiting for the search.
        write_millis: the rest: writing goes on while the search computes.
        configuration: the options, defaults filled in.
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
    configuration: Configuration


def write(
    driver: Driver,
    database: str | None = None,
    *,
    p: P | Sequence[P],
    graph: str | None = None,
    node_labels: Sequence[str] = (),
    relationship_types: Sequence[str] = (),
    key: str | None = None,
    score: str = "density",
    vertices: Key | Sequence[Key] | None = None,
    concurrency: int | None = None,
    create_index: bool = False,
    check: bool = False,
    progress: Progress | None = None,
) -> WriteResult:
    """Search the minimal p-cohesions and store them as hubs and memberships (DATA-MODEL.md#hubs-and-memberships).

    Args:
        driver: an open driver; see `pcneo.connect`.
        database: None for the user's home database.
        p: one or several; several share the read.
        graph: the owner's name for that part of the database; by default `Selection.default_name`.
        node_labels: labels of the vertices; may be left out where the database leaves one choice.
        relationship_types: types of the edges; likewise.
        key: the property that holds the vertices' unique key; likewise.
        score: `density` or `degree`.
        vertices: one key or several; only these are searched, by frontier. None for every vertex.
        concurrency: threads that search; None for all cores.
        create_index: create the index on the key where it is missing; in mode `write` alone.
        check: also check that every answer is minimal.
        progress: called with stage, done and total.

    Returns:
        What was stored and how long it took.

    Raises:
        ParameterError: an option is out of range, or a name is left out where there is more than one choice.
        NotFoundError: there is no such label, type or vertex.
        KeyPropertyError: keys are missing, repeated, or of mixed or unusable kinds.
        GraphChangedError: the graph changed while it was read.
        SchemaError: the key has no index.
        BusyError: another writer holds the graph.
        AnswerError: an answer failed its check.
        DatabaseError: the database could not do it. After any error the previous run stays as it was.
    """
    options = Options(
        p=p,
        node_labels=node_labels,
        relationship_types=relationship_types,
        key=key,
        score=score,
        vertices=vertices,
        concurrency=concurrency,
        create_index=create_index,
        check=check,
        progress=progress,
    )
    plan = make_plan(driver, database, "write", options)
    name = graph or plan.selection.default_name
    plan.configuration["graph"] = name
    with writer_of(plan.gateway, name, plan.selection) as writer:
        return _write(plan, writer)


def _write(plan: Plan, writer: GraphWriter) -> WriteResult:
    supply = supply_of(plan)
    node_count, relationship_count = supply.counts  # before the search: what changes meanwhile shows as a difference
    read_millis = plan.millis()
    waited = Stopwatch()
    runs = tuple(_write_run(plan, writer, supply, p, waited) for p in plan.ps)
    writer.complete()
    return WriteResult(
        graph=writer.graph.name,
        node_count=node_count,
        relationship_count=relationship_count,
        vertices=supply.vertices,
        edges=supply.edges,
        runs=runs,
        relationships_written=sum(run.summary.memberships + run.summary.cohesions for run in runs),
        pre_processing_millis=read_millis,
        compute_millis=waited.millis,
        write_millis=plan.millis() - read_millis - waited.millis,
        configuration=plan.configuration,
    )


def _write_run(plan: Plan, writer: GraphWriter, supply: Supply, p: Fraction, waited: Stopwatch) -> WrittenRun:
    run = writer.begin_run(p, plan.score, supply.scope, plan.vertices or ())
    tally, digest = Tally(), MembershipHash()

    def rows() -> Iterator[CohesionRow]:
        for batch in waited.around(supply.batches(p)):
            tally.add(batch)
            digest.update(batch)
            yield from rows_of(batch)

    written = 0
    for memberships in writer.write_rows(run, rows()):
        written += memberships
        plan.progress(f"writing p={p_text(p)}", written, None)
    node_count, relationship_count = supply.counts
    figures = RunFigures(
        node_count=node_count,
        relationship_count=relationship_count,
        vertices=supply.vertices,
        edges=supply.edges,
        memberships=written,
        fingerprint=supply.fingerprint(bytes.fromhex(writer.graph.fingerprint_key)),
        membership_hash=digest.hexdigest(),
    )
    writer.end_run(run, figures)
    return WrittenRun(run.id, p_text(p), plan.score, supply.scope, tally.summary())


class Stopwatch:
    """The time spent waiting for the items of an iterable."""

    def __init__(self) -> None:
        """Begin at zero."""
        self._seconds = 0.0

    @property
    def millis(self) -> int:
        """Milliseconds so far."""
        return round(1000 * self._seconds)

    def around(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items; the clock runs only while the next one is awaited."""
        iterator = iter(items)
        while True:
            started = time.perf_counter()
            try:
                item = next(iterator)
            except StopIteration:
                return
            finally:
                self._seconds += time.perf_counter() - started
            yield item
