"""Use case: remove everything that pcneo has stored in a database, including its constraints and indexes."""

from __future__ import annotations

from dataclasses import dataclass

from pcneo.basics.model import Progress
from pcneo.errors import BusyError
from pcneo.store.database import Database
from pcneo.store.ledger import list_ledger
from pcneo.store.lock import GraphLock
from pcneo.stored.cleaning import CleanResult, clean

BATCH = 2_000
LEDGER = frozenset(
    {"PCohesionGraph", "PCohesionFence", "PCohesionBudget", "PCohesionRelease", "PCohesionLedger", "PCohesionNote"}
)
"""The labels that the ledger needs: its own, and those of the graphs that it mentions."""


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
    return f"A service is running on this database ({'; '.join(workers)}). Stop it, then try again." if workers else ""


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
