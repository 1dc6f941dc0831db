"""Use case: remove standing runs, and what an earlier pcneo stored in another format."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from pcneo.basics.model import Progress, RunRecord
from pcneo.store.count_property import remove_properties
from pcneo.store.database import Database
from pcneo.store.fence import Fence
from pcneo.store.ledger import list_ledger
from pcneo.store.ledger_records import LedgerRecords
from pcneo.store.lock import GraphLock
from pcneo.store.requests import RequestQueue
from pcneo.store.standing import OpenGraph, open_graph
from pcneo.stored.runs import find_run, unfinished_runs

__all__ = ["CleanResult", "clean", "is_unfinished", "runs_relied_on"]


@dataclass(frozen=True)
class CleanResult:
    """What was removed.

    Attributes:
        runs: ids of the runs removed.
        hubs: how many.
        properties: names of properties that releases had written.
        kept_properties: those left alone, because some of their values are no longer those of a release.
        earlier_runs: how many runs that an earlier pcneo had stored in another format.
        relied_on: ids of those of the runs that releases rest on; the ledger keeps these releases.
        answered_requests: how many of those that a service had answered.
    """

    runs: tuple[str, ...]
    hubs: int
    properties: tuple[str, ...] = ()
    kept_properties: tuple[str, ...] = ()
    earlier_runs: int = 0
    relied_on: tuple[str, ...] = ()
    answered_requests: int = 0


def clean(
    db: Database,
    *,
    run: str | None = None,
    progress: Progress | None = None,
) -> CleanResult:
    """Remove one run, or all, with its versions, hubs, memberships and the properties that its releases wrote.

    What an ended writer left of a run that has no version yet is removed too, by its whole id or with all.

    Graphs' names, budgets and the ledger stay; a release is noted to have no property any more. When all is removed, so
    are properties of releases that rest on no stored run, runs that an earlier pcneo stored in another format, and
    answered requests.

    Args:
        db: the database.
        run: the run's id, or a beginning that no other has; None for all.
        progress: called with stage, done and total.

    Returns:
        What was removed.

    Raises:
        NotFoundError: there is no such run.
        BusyError: somebody is writing one of the graphs; its runs stay.
        StoreFormatError: one run is named, and the runs there are of another format.
    """
    queue = RequestQueue(db)
    earlier = _clean_earlier(db) if run is None else 0
    ledger = list_ledger(db)
    unfinished = {id: graph.name for id, graph in unfinished_runs(db, ledger.graphs).items() if run in (None, id)}
    one = run is not None and not unfinished
    runs = [find_run(db, run=run).run] if one else db.list_runs() if run is None else []
    noted = {release.graph for release in ledger.releases if release.property and run is None}
    hubs, removed, kept = 0, [], []
    for graph in ledger.graphs:
        ours = [record.id for record in runs if record.graph == graph.name]
        if not ours and graph.name not in {*noted, *unfinished.values()}:
            continue
        with open_graph(db, graph) as opened:  # which sweeps what is unfinished
            if run is None or ours:
                gone, left = remove_properties(db, graph, None if run is None else ours[0])
                removed += gone
                kept += left
            hubs += opened.swept + _clean_graph(db, opened, ours, progress)
    answered = 0
    while run is None and (deleted := queue.delete_answers(seconds=0, keep=0)):
        answered += deleted
    ids = (*(record.id for record in runs), *unfinished)
    return CleanResult(ids, hubs, tuple(removed), tuple(kept), earlier, _relied_on(runs, ledger), answered)


def is_unfinished(db: Database, *, run: str) -> bool:
    """Return whether this is the whole id of a run that has no version yet.

    Args:
        db: the database.
        run: the id.
    """
    return run in unfinished_runs(db, db.list_graphs())


def runs_relied_on(db: Database, *, run: str | None = None) -> tuple[str, ...]:
    """Return the ids of those runs that releases rest on, of those that `clean` would remove.

    Args:
        db: the database.
        run: the run's id; None for all.

    Raises:
        StoreFormatError: the runs there are of another format.
    """
    return _relied_on([record for record in db.list_runs() if run in (None, record.id)], list_ledger(db))


def _relied_on(runs: Sequence[RunRecord], ledger: LedgerRecords) -> tuple[str, ...]:
    relied_on = {release.run for release in ledger.releases}
    return tuple(record.id for record in runs if record.id in relied_on)


def _clean_graph(db: Database, opened: OpenGraph, runs: Sequence[str], progress: Progress | None) -> int:
    db.hide_runs(runs)  # nobody sees them from here on, whatever becomes of this process
    return opened.sweep(progress and (lambda deleted: progress("deleting hubs", deleted, None)))


def _clean_earlier(db: Database) -> int:
    """Delete what an earlier pcneo stored in another format, under the locks that its writers take, too."""
    if not db.count_earlier():
        return 0
    with ExitStack() as locks:
        for graph in db.list_graphs():
            locks.enter_context(GraphLock(db, graph.name))
            Fence(db, graph.name).take()  # what an earlier writer has under way lands nowhere
        return db.delete_earlier()
