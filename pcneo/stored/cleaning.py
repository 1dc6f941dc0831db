"""Use cases: remove standing runs, or everything that pcneo has stored, with its constraints and indexes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from pcneo.basics.frames import counted, words
from pcneo.basics.model import Progress
from pcneo.basics.run_record import RunRecord
from pcneo.errors import BusyError, StoreFormatError
from pcneo.store.count_property import remove_properties
from pcneo.store.database import Database
from pcneo.store.fence import Fence
from pcneo.store.ledger import create_note, list_ledger
from pcneo.store.ledger_records import LedgerRecords
from pcneo.store.lock import GraphLock
from pcneo.store.requests import ENDED, LEASE_SECONDS, RequestQueue
from pcneo.store.standing import OpenGraph, open_graph
from pcneo.stored.runs import id_and_graph, unfinished_runs

BATCH = 2_000
LEDGER = frozenset(
    {"PCohesionGraph", "PCohesionFence", "PCohesionBudget", "PCohesionRelease", "PCohesionLedger", "PCohesionNote"}
)
"""The labels that the ledger needs: its own, and those of the graphs that it mentions."""


@dataclass(frozen=True)
class CleanResult:
    """What was removed.

    Attributes:
        runs: ids of the runs removed.
        hubs: how many hubs were removed.
        properties: names of the removed properties, which releases had written.
        kept_properties: names of properties left alone, because some of their values are no longer those of a release.
        earlier_runs: how many runs were removed that an earlier pcneo had stored in another format.
        relied_on: ids of the removed runs that releases rest on; the ledger keeps these releases.
        answered_requests: how many requests were removed that a service had answered.
    """

    runs: tuple[str, ...]
    hubs: int
    properties: tuple[str, ...] = ()
    kept_properties: tuple[str, ...] = ()
    earlier_runs: int = 0
    relied_on: tuple[str, ...] = ()
    answered_requests: int = 0

    def __repr__(self) -> str:
        """Return what was removed, in a line; counts of zero are left out."""
        named = f" ({words(self.runs, 12)})" if self.runs else ""
        further = {
            "runs of an earlier pcneo": self.earlier_runs,
            "properties that releases wrote": len(self.properties),
            "answered requests": self.answered_requests,
        }
        return ", ".join(
            [
                f"Clean: {counted(len(self.runs), 'run')}{named}",
                f"{self.hubs:,} cohesions",
                *(f"{count:,} {what}" for what, count in further.items() if count),
            ]
        )


@dataclass(frozen=True, kw_only=True)
class Everything:
    """What pcneo has in a database.

    Attributes:
        hubs, memberships, runs, requests, graphs, fences: how many there are.
        ledger: number of totals, releases, and notes of what was done to them by hand.
        schema: names of pcneo's constraints and indexes: those on its own labels, and those that
            `annotate --create-index` made on yours.
        ledger_graphs: names of the graphs that the ledger mentions; they stay as long as it does.
    """

    hubs: int
    memberships: int
    runs: int
    requests: int
    graphs: int
    fences: int
    ledger: int
    schema: tuple[str, ...]
    ledger_graphs: tuple[str, ...]

    def without(self, left: Everything) -> Everything:
        """Return what has been removed if `left` is what remains."""

        def gone(had: Any, now: Any) -> Any:
            if isinstance(had, tuple):
                return tuple(item for item in had if item not in now)
            return max(0, had - now)  # a writer's fence may be new

        return Everything(**{name: gone(had, getattr(left, name)) for name, had in vars(self).items()})


def clean(
    db: Database,
    *,
    run: str | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> CleanResult:
    """Remove one run, or all, with its versions, hubs, memberships and the properties that its releases wrote.

    A run that has no version yet, which an interrupted writer left behind, is removed too, if its whole id is given or
    all runs are removed. So is a run whose node or a version's someone has changed, if its whole id is given.

    Graphs' names, budgets and the ledger stay; the ledger notes that a release no longer has a property. When all runs
    are removed, so are properties of releases that rest on no stored run, runs that an earlier pcneo stored in another
    format, and answered requests.

    Returns:
        What was removed.
    """
    if dry_run:
        return _planned(db, run)
    queue = RequestQueue(db)
    earlier = _clean_earlier(db) if run is None else 0
    ledger = list_ledger(db)
    unfinished = {id: graph.name for id, graph in unfinished_runs(db, ledger.graphs).items() if run in (None, id)}
    runs = [] if run in unfinished else _of_known(db.list_runs(), ledger) if run is None else [id_and_graph(db, run)]
    noted = {release.graph for release in ledger.releases if release.property and run is None}
    hubs, removed, kept = 0, [], []
    for graph in ledger.graphs:
        ours = [id for id, of in runs if of == graph.name]
        if not ours and graph.name not in {*noted, *unfinished.values()}:
            continue
        with open_graph(db, graph) as opened:  # opening sweeps what is unfinished
            if run is None or ours:
                gone, left = remove_properties(db, graph, None if run is None else ours[0])
                removed += gone
                kept += left
            swept = opened.swept + _clean_graph(db, opened, ours, progress)
            hubs += swept
            if ours or swept:
                with opened.last_writes() as transaction:
                    what = words(ours, 12) or "what an interrupted writer had left"
                    create_note(transaction, "cleaned", graph.name, f"removed {what}, {swept:,} cohesions")
    answered = 0
    while run is None and (deleted := queue.delete_answers(seconds=0, keep=0)):
        answered += deleted
    ids = (*(id for id, _ in runs), *unfinished)
    return CleanResult(ids, hubs, tuple(removed), tuple(kept), earlier, _relied_on(runs, ledger), answered)


def _planned(db: Database, run: str | None) -> CleanResult:
    ledger = list_ledger(db)
    unfinished = [id for id in unfinished_runs(db, ledger.graphs) if run in (None, id)]
    runs = [] if run in unfinished else _of_known(_current_runs(db), ledger) if run is None else [id_and_graph(db, run)]
    ids = (*(id for id, _ in runs), *unfinished)
    written = {release.property for release in ledger.releases if release.run in ids or run is None}
    answered = sum(number for status, (number, _) in RequestQueue(db).count_requests().items() if status in ENDED)
    return CleanResult(
        runs=ids,
        hubs=_count_hubs(db, ids),
        properties=tuple(sorted(name for name in written if name is not None)),
        earlier_runs=db.count_earlier() if run is None else 0,
        relied_on=_relied_on(runs, ledger),
        answered_requests=answered if run is None else 0,
    )


def _current_runs(db: Database) -> Sequence[RunRecord]:
    try:
        return db.list_runs()
    except StoreFormatError:  # all runs are in an earlier format
        return []


def _of_known(runs: Sequence[RunRecord], ledger: LedgerRecords) -> list[tuple[str, str]]:
    """Return ids and graphs of the runs that can be removed: only under the lock on the node of their graph."""
    known = {graph.name for graph in ledger.graphs}
    return [(record.id, record.graph) for record in runs if record.graph in known]


def _relied_on(runs: Sequence[tuple[str, str]], ledger: LedgerRecords) -> tuple[str, ...]:
    relied_on = {release.run for release in ledger.releases}
    return tuple(id for id, _ in runs if id in relied_on)


def _count_hubs(db: Database, runs: Sequence[str]) -> int:
    return sum(db.read("count_hubs", run=run)[0]["hubs"] for run in runs)


def _clean_graph(db: Database, opened: OpenGraph, runs: Sequence[str], progress: Progress | None) -> int:
    total = _count_hubs(db, runs)
    for run in runs:
        opened.hubs.hide_run(run)  # readers no longer see it, even if this process ends
    return opened.sweep(progress and (lambda deleted: progress("deleting hubs", deleted, max(total, deleted))))


def _clean_earlier(db: Database) -> int:
    """Delete what an earlier pcneo stored in another format, under the locks that its own writers also take."""
    if not db.count_earlier():
        return 0
    with ExitStack() as locks:
        for graph in db.list_graphs():
            locks.enter_context(GraphLock(db, graph.name))
            Fence(db, graph.name).take()  # stops whatever an earlier writer has under way
        return db.delete_earlier()


def everything(db: Database) -> Everything:
    """Return what pcneo has in a database; nothing is changed."""
    ledger = list_ledger(db)
    known, notes = {graph.name for graph in ledger.graphs}, [note for note in ledger.notes if note.kind != "cleaned"]
    spoken_of = ledger.used | {name for note in notes for name in (note.graph, note.other) if name is not None}
    spoken_of |= {str(damaged.properties.get("graph")) for damaged in ledger.damaged}
    schema = tuple(sorted(row["name"] for row in db.read("list_schema")))
    records = len(ledger.budgets) + len(ledger.releases) + len(ledger.damaged) + len(notes)
    counts = db.read("count_ours")[0]
    return Everything(**counts, ledger=records, schema=schema, ledger_graphs=tuple(sorted(known & spoken_of)))


def services_at_work(db: Database) -> str:
    """Return a message that names the services at work on requests, which prevent removal; empty if there are none."""
    workers = [_process(row["worker"]) for row in db.read("list_working")]
    if not workers:
        return ""
    return (
        f"A service is running on this database ({'; '.join(workers)}). Stop it, then try again; one that was killed "
        f"counts as running for {LEASE_SECONDS} s."
    )


def _process(worker: str) -> str:
    host, _, number = worker.rpartition(":")
    return f"process {number} on host {host}" if host and number.isdigit() else worker


def uninstall(
    db: Database, *, ledger: bool = False, progress: Progress | None = None
) -> tuple[CleanResult, Everything]:
    """Remove everything that pcneo has stored: runs, requests, fences, names of graphs, constraints and indexes.

    The ledger stays, with its graphs' names and fences, unless `ledger` is true. Data that `pcneo load` loaded is
    yours and stays.

    Returns:
        What was removed with the runs, and what is left of pcneo.
    """
    if running := services_at_work(db):
        raise BusyError(running)
    removed = clean(db, progress=progress)
    requests, done = db.read("count_ours")[0]["requests"], 0
    while deleted := db.write("delete_requests", limit=BATCH)[0]["deleted"]:
        done += deleted
        if progress is not None:
            progress("deleting requests", done, max(requests, done))
    keeps = not ledger and everything(db).ledger > 0
    while not keeps and db.write("delete_records", limit=BATCH)[0]["deleted"]:
        pass
    stays = everything(db).ledger_graphs
    for graph in db.list_graphs():
        if graph.name not in stays:
            with GraphLock(db, graph.name) as lock, lock.last_writes() as transaction:
                transaction.run("delete_graph", name=graph.name)
    for row in db.read("list_schema"):
        if not (keeps and row["label"] in LEDGER):
            db.write("drop_constraint" if row["is_constraint"] else "drop_index", name=row["name"])
    return removed, everything(db)
