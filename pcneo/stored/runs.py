"""Use cases: list stored runs, verify that they still fit the graph, and remove them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pcneo.errors import KeyPropertyError, NotFoundError, ParameterError
from pcneo.graph import fingerprint, membership_hash
from pcneo.model import Key, Progress, Run, Selection
from pcneo.store.chosen_graph import read_graph
from pcneo.store.count_property import remove_properties
from pcneo.store.gateway import Gateway, GraphRecord
from pcneo.store.ledger import LedgerGateway
from pcneo.store.lock import GraphLock
from pcneo.store.sweep import sweep

if TYPE_CHECKING:
    from neo4j import Driver

__all__ = [
    "LATEST",
    "CleanResult",
    "StoredRun",
    "VerifiedRun",
    "clean",
    "find_run",
    "latest_run",
    "list_runs",
    "verify",
]

LATEST = "latest"
"""Stands for the identifier of the complete `graph` run that finished last."""


@dataclass(frozen=True)
class StoredRun:
    """A run and the graph it is of, as the database has both now.

    Attributes:
        run: the record.
        selection: labels, types and key of its graph.
        moved: whether the count store's nodes or relationships differ from those when the graph was read. Equal counts
            do not prove that nothing changed; `verify` reads everything.
    """

    run: Run
    selection: Selection
    moved: bool


@dataclass(frozen=True)
class VerifiedRun:
    """How a run compares with what is read now.

    Attributes:
        run: the record.
        graph_same: whether vertices and edges are those of the run; None for a `vertices` run: it has no fingerprint.
        memberships_same: whether the stored memberships are those that were written.
    """

    run: Run
    graph_same: bool | None
    memberships_same: bool


@dataclass(frozen=True)
class CleanResult:
    """What was removed.

    Attributes:
        runs: identifiers.
        hubs: how many.
        properties: names of properties that releases had written.
        kept_properties: those left alone, because some of their values are no longer those of a release.
    """

    runs: tuple[str, ...]
    hubs: int
    properties: tuple[str, ...] = ()
    kept_properties: tuple[str, ...] = ()


def list_runs(driver: Driver, database: str | None = None) -> list[StoredRun]:
    """Return the stored runs, oldest first; `running` ones belong to a writer at work or to one that died.

    Args:
        driver: an open driver.
        database: None for the user's home database.

    Raises:
        DatabaseError: the database could not be read.
    """
    gateway = Gateway(driver, database)
    runs = gateway.list_runs()  # before the graphs: so the graph of every run that is listed is listed, too
    graphs = {graph.name: graph.selection for graph in gateway.list_graphs()}
    now = {name: gateway.count_store(graphs[name]) for name in {run.graph for run in runs} & graphs.keys()}
    return [
        StoredRun(run, graphs[run.graph], run.status != "running" and now[run.graph] != _counts_of(run))
        for run in runs
        if run.graph in graphs
    ]


def _counts_of(run: Run) -> tuple[int, int]:
    return run.node_count, run.relationship_count


def latest_run(driver: Driver, database: str | None = None, *, graph: str | None = None) -> StoredRun:
    """Return the complete `graph` run that finished last.

    Raises:
        NotFoundError: there is none.
        ParameterError: there are such runs of several graphs and none was named.
    """
    runs = [
        stored
        for stored in list_runs(driver, database)
        if (stored.run.status, stored.run.scope) == ("complete", "graph") and graph in (None, stored.run.graph)
    ]
    if not runs:
        where = "" if graph is None else f" of graph {graph!r}"
        raise NotFoundError(f"There is no complete run{where}; `pcneo annotate` makes one.", what="run", name="latest")
    if len(names := sorted({stored.run.graph for stored in runs})) > 1:
        raise ParameterError(
            f"Several graphs have runs, name one with --graph: {', '.join(names)}.", name="graph", value=None
        )
    return max(runs, key=lambda stored: stored.run.finished_at or stored.run.started_at)


def find_run(driver: Driver, database: str | None = None, *, run: object = None, graph: str | None = None) -> StoredRun:
    """Return the complete run of this identifier, of a whole graph or of single vertices; by default the latest.

    Raises:
        NotFoundError: there is none.
        ParameterError: as in `latest_run`.
    """
    if run in (None, LATEST):
        return latest_run(driver, database, graph=graph)
    for stored in list_runs(driver, database):
        if stored.run.id == run and stored.run.status == "complete":
            return stored
    raise NotFoundError(f"There is no complete run {run!r}; `pcneo runs` lists them.", what="run", name=run)


def verify(
    driver: Driver, database: str | None = None, *, run: str | None = None, progress: Progress | None = None
) -> list[VerifiedRun]:
    """Read graphs and memberships again and compare them with what was recorded.

    Args:
        driver: an open driver.
        database: None for the user's home database.
        run: one run; None for every complete one.
        progress: called with stage, done and total.

    Returns:
        The runs that were compared.

    Raises:
        NotFoundError: there is no such complete run.
        GraphError: a graph cannot be read any more; the message says why.
    """
    gateway = Gateway(driver, database)
    complete = [record for record in gateway.list_runs() if record.status == "complete" and run in (None, record.id)]
    if run is not None and not complete:
        raise NotFoundError(f"There is no complete run {run!r}; `pcneo runs` lists them.", what="run", name=run)
    graphs = {graph.name: graph for graph in gateway.list_graphs()}
    wanted = {record.graph for record in complete if record.scope == "graph"}
    prints = {name: _fingerprint(gateway, graphs[name], progress) for name in sorted(wanted)}
    return [
        VerifiedRun(
            run=record,
            graph_same=None if record.fingerprint is None else prints[record.graph] == record.fingerprint,
            memberships_same=_membership_hash(gateway, graphs[record.graph], record, progress)
            == record.membership_hash,
        )
        for record in complete
    ]


def _fingerprint(gateway: Gateway, graph: GraphRecord, progress: Progress | None) -> str:
    stored = read_graph(gateway, graph.selection, progress)
    return fingerprint(stored.graph, bytes.fromhex(graph.fingerprint_key))


def _membership_hash(gateway: Gateway, graph: GraphRecord, run: Run, progress: Progress | None) -> str | None:
    def rows() -> Iterator[tuple[Key, list[Key]]]:
        for done, (vertex, members, _) in enumerate(gateway.stream_cohesions(graph.selection, run.id), 1):
            if not all(isinstance(key, int | str) for key in (vertex, *members)):
                raise KeyPropertyError(f"A hub of run {run.id} names a vertex without a usable key.", run=run.id)
            yield vertex, members
            if progress and done % 1_000 == 0:
                progress(f"reading run {run.id[:8]}", done, None)

    try:
        return membership_hash(rows())
    except KeyPropertyError:  # an owner or a member has lost its key, or is gone
        return None


def clean(
    driver: Driver,
    database: str | None = None,
    *,
    run: str | None = None,
    progress: Progress | None = None,
) -> CleanResult:
    """Remove one run, or all, with hubs, memberships and the properties that its releases wrote on vertices.

    Graphs' names, budgets and the ledger stay; the ledger notes which releases have lost their property. Properties of
    releases that rest on no stored run are removed only when all runs are.

    Args:
        driver: an open driver.
        database: None for the user's home database.
        run: the run; None for all.
        progress: called with stage, done and total.

    Returns:
        What was removed.

    Raises:
        NotFoundError: there is no such run.
        BusyError: another writer holds one of the graphs; its runs stay.
    """
    gateway = LedgerGateway(driver, database)
    runs = [record for record in gateway.list_runs() if run in (None, record.id)]
    if run is not None and not runs:
        raise NotFoundError(f"There is no run {run!r}; `pcneo runs` lists them.", what="run", name=run)
    ledger = gateway.list_ledger()
    names = {record.graph for record in runs}
    if run is None:
        names |= {release.graph for release in ledger.releases if release.property}
    hubs, removed, kept = 0, [], []
    for graph in ledger.graphs:
        if graph.name not in names:
            continue
        with GraphLock(gateway, graph.name):
            gone, left = remove_properties(gateway, graph, run)
            there = [record.id for record in runs if record.graph == graph.name]
            hubs += _clean_graph(gateway, graph.name, there, progress)
        removed += gone
        kept += left
    return CleanResult(tuple(record.id for record in runs), hubs, tuple(removed), tuple(kept))


def _clean_graph(gateway: Gateway, graph: str, runs: Sequence[str], progress: Progress | None) -> int:
    gateway.retire_runs(runs)
    report = None if progress is None else (lambda hubs: progress("deleting hubs", hubs, None))
    hubs = sum(gateway.delete_run(run, report) for run in runs)
    sweep(gateway, graph)
    return hubs
