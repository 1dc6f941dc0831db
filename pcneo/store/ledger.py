"""The ledger in the database: totals set by owners, releases made, and noisy counts as a property."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from pcneo.basics.model import Key
from pcneo.basics.selection import Selection
from pcneo.basics.user import user
from pcneo.errors import WriteMismatchError
from pcneo.store.database import Database, graph_records
from pcneo.store.ledger_records import (
    DamagedRecord,
    LedgerRecords,
    budget_records,
    note_records,
    release_records,
)
from pcneo.store.transaction import Row, Transaction, sample_names

T = TypeVar("T")

PROPERTY_BATCH = 10_000
"""Vertices per statement that writes property values; all statements share one transaction."""


def list_ledger(db: Database) -> LedgerRecords:
    """Return the ledger for display; to decide on a release, use `read_ledger` under the graph's lock."""
    return _records(db.read, db)


def merge_secret(db: Database, secret: str) -> bytes:
    """Return the secret under which keys are hashed, or store this one if there is none."""
    return db.write("merge_ledger_secret", secret=secret)[0]["secret"].encode()


def get_secret(db: Database) -> bytes | None:
    """Return the secret under which keys are hashed; None if there is none."""
    rows = db.read("get_ledger_secret")
    return rows[0]["secret"].encode() if rows and rows[0]["secret"] is not None else None


def is_empty(db: Database, selection: Selection) -> bool:
    """Return whether a selection has no nodes or no relationships."""
    return 0 in db.count_store(selection)


def versions_relied_on(db: Database, transaction: Transaction, run: str) -> set[int]:
    """Return the versions of a run that releases rest on, even damaged releases, as a transaction sees them."""
    ledger = read_ledger(transaction, db)
    named: list[tuple[object, object]] = [(release.run, release.run_version) for release in ledger.releases]
    named += [(damaged.properties.get("run"), damaged.properties.get("runVersion")) for damaged in ledger.damaged]
    return {version for of, version in named if of == run and isinstance(version, int)}


def share_nodes(db: Database, selection: Selection, other: Selection) -> bool:
    """Return whether two nodes or more carry labels of both selections."""
    return _share_nodes(db.read, selection, other)


def list_property_values(db: Database, selection: Selection, name: str) -> list[tuple[Key, object]]:
    """Return (key, value) of every chosen vertex that has the property."""
    return _values(db.read, selection, name)


def note_answers(db: Database, release: str, digest: str) -> None:
    """Record the hash of a release's answers."""
    row = db.write("note_answers", release=release, hash=digest)[0]
    if row["noted"] != 1:
        raise WriteMismatchError(
            f"Release {release} is no longer in the ledger, so its answers could not be found again.",
            sent=1,
            written=row["noted"],
        )


def note_published(db: Database, release: str, mean_count: float | None, mean_degree: float | None) -> None:
    """Record the mean count of triangles and the mean degree that a release has published; None if it has not."""
    db.write("note_published", release=release, meanCount=mean_count, meanDegree=mean_degree)


@contextmanager
def property_writer(db: Database, selection: Selection, name: str) -> Iterator[PropertyWriter]:
    """Open a transaction for a property; it is committed at the end of the block, or rolled back on an error."""
    with db.transaction({}) as transaction:
        yield PropertyWriter(transaction, selection, name)
        transaction.commit()


class PropertyWriter:
    """Writes noisy counts as a property of the user's vertices, within one transaction."""

    def __init__(self, transaction: Transaction, selection: Selection, name: str) -> None:
        """Write one property of the chosen vertices."""
        self._transaction = transaction
        self._selection = selection
        self._name = name
        self._names = {**sample_names(selection, "Person", "id"), "noisy": name}

    def list_values(self) -> list[tuple[Key, object]]:
        """Return (key, value) of every chosen vertex that has the property."""
        return _values(self._transaction.run, self._selection, self._name)

    def note_property(self, release: str, digest: str) -> None:
        """Record on a release that the property holds its noisy counts, with the hash of keys and values."""
        row = self._transaction.run("note_property", release=release, property=self._name, hash=digest)[0]
        if row["noted"] != 1:
            raise WriteMismatchError(
                f"Release {release} is no longer in the ledger, so the property would have no owner.",
                sent=1,
                written=row["noted"],
            )

    def retire_property(self, releases: Sequence[str]) -> None:
        """Record on releases that the property no longer holds their noisy counts."""
        self._transaction.run("retire_property", releases=list(releases))

    def set_property(self, counts: Mapping[Key, int]) -> None:
        """Set the property of every vertex to its noisy count."""
        rows = [{"vertex": key, "count": count} for key, count in counts.items()]
        written = sum(
            self._transaction.run("set_property", self._names, rows=part)[0]["written"] for part in _parts(rows)
        )
        if written != len(rows):
            raise WriteMismatchError(
                f"Only {written:,} of {len(rows):,} vertices were found again: the graph changed after it was read.",
                sent=len(rows),
                written=written,
            )

    def remove_property(self, keys: Sequence[Key]) -> None:
        """Remove the property from some vertices."""
        for part in _parts(keys):
            self._transaction.run("remove_property", self._names, keys=part)


def read_ledger(transaction: Transaction, db: Database) -> LedgerRecords:
    """Return the ledger, read in the transaction that holds the graph's lock, so that no one changes it meanwhile."""
    return _records(transaction.run, db)


def create_budget(transaction: Transaction, graph: str, number: int, total: tuple[str, str], who: str) -> None:
    """Record a total, ε and δ as fractions `a/b`, under the graph's lock."""
    transaction.run("create_budget", graph=graph, number=number, epsilon=total[0], delta=total[1], who=who)


def create_release(transaction: Transaction, values: Row) -> None:
    """Record a spend under the graph's lock; `values` are the statement's parameters."""
    transaction.run("create_release", **values)


def create_note(
    transaction: Transaction, kind: str, graph: str, what: str, *, other: str | None = None, records: Sequence[str] = ()
) -> None:
    """Record what this user does by hand; the arguments are the statement's parameters."""
    values = {"kind": kind, "graph": graph, "other": other, "what": what, "records": list(records), "who": user()}
    transaction.run("create_note", **values)


def mend_record(transaction: Transaction, record: DamagedRecord, values: Row) -> bool:
    """Replace the values of a damaged record that was read in this transaction; return False if it is gone."""
    kind = "release" if record.is_release else "budget"
    return bool(transaction.run(f"mend_{kind}", element=record.element, values=values)[0]["mended"])


def mark_releases(transaction: Transaction, graph: str, fingerprint: str, mark: str) -> int:
    """Give those releases of a graph that have a hash under another secret the one under this; return how many."""
    return transaction.run("mark_releases", graph=graph, fingerprint=fingerprint, mark=mark)[0]["marked"]


def move_ledger(transaction: Transaction, graph: str, to: str, add: int) -> int:
    """Move the totals and releases of one graph to another's name; return how many records were moved."""
    return transaction.run("move_ledger", graph=graph, to=to, add=add)[0]["moved"]


def delete_ledger(transaction: Transaction, graph: str) -> int:
    """Forget the totals and releases of one graph under its lock; return the records deleted."""
    return transaction.run("delete_ledger", graph=graph)[0]["forgotten"]


def _records(read: Callable[..., list[Row]], db: Database) -> LedgerRecords:
    rows = [{**row, "properties": dict(row["properties"])} for row in read("list_ledger")]
    budgets, damaged_budgets = budget_records([row for row in rows if "PCohesionBudget" in row["labels"]])
    releases, damaged_releases = release_records([row for row in rows if "PCohesionRelease" in row["labels"]])
    return LedgerRecords(
        tuple(graph_records(read("list_graphs"))),
        tuple(budgets),
        tuple(releases),
        (*damaged_budgets, *damaged_releases),
        tuple(note_records([row for row in rows if "PCohesionNote" in row["labels"]])),
        partial(_share_nodes, read),
        partial(is_empty, db),
    )


def _share_nodes(read: Callable[..., list[Row]], selection: Selection, other: Selection) -> bool:
    names = {"Person": selection.node_labels, "Robot": other.node_labels}
    return read("count_shared_nodes", names)[0]["shared"] == 2


def _values(read: Callable[..., list[Row]], selection: Selection, name: str) -> list[tuple[Key, object]]:
    names = {**sample_names(selection, "Person", "id"), "noisy": name}
    return [(row["key"], row["value"]) for row in read("list_property_values", names)]


def _parts(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), PROPERTY_BATCH):
        yield items[start : start + PROPERTY_BATCH]
