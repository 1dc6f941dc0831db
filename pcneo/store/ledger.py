"""The ledger in the database: totals set by owners, and releases made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from pcneo.basics.selection import Selection
from pcneo.basics.user import user
from pcneo.errors import WriteMismatchError
from pcneo.store.database import Database, graph_records
from pcneo.store.ledger_records import DamagedRecord, LedgerRecords, budget_records, note_records, release_records
from pcneo.store.transaction import Row, Transaction


def list_ledger(db: Database) -> LedgerRecords:
    """Return the ledger for display; to decide on a release, use `read_ledger` under the graph's lock."""
    return _records(db.read, db)


def lock_ledger(transaction: Transaction, secret: str) -> bytes:
    """Hold the ledger of every graph until the transaction ends; return the secret under which keys are hashed.

    If there is none, this one is stored.
    """
    return transaction.run("merge_ledger_secret", secret=secret)[0]["secret"].encode()


def get_secret(db: Database) -> bytes | None:
    """Return the secret under which keys are hashed; None if there is none."""
    rows = db.read("get_ledger_secret")
    return rows[0]["secret"].encode() if rows and rows[0]["secret"] is not None else None


def versions_relied_on(db: Database, transaction: Transaction, run: str) -> set[int]:
    """Return the versions of a run that releases rest on, even damaged releases, as a transaction sees them."""
    named = _rest_on(read_ledger(transaction, db))
    return {version for _, of, version in named if of == run and isinstance(version, int)}


def releases_on(db: Database, run: str, version: int) -> list[str]:
    """Return the releases, even damaged ones, that rest on a version of a run."""
    return [release for release, *on in _rest_on(list_ledger(db)) if on == [run, version]]


def _rest_on(ledger: LedgerRecords) -> list[tuple[str, object, object]]:
    """Return each release, even a damaged one, with the run and version that it names."""
    sound: list[tuple[str, object, object]] = [(made.id, made.run, made.run_version) for made in ledger.releases]
    damaged = [(made.record, made.properties) for made in ledger.damaged]
    return sound + [(record, there.get("run"), there.get("runVersion")) for record, there in damaged]


def share_nodes(read: Callable[..., list[Row]], selection: Selection, other: Selection) -> bool:
    """Return whether two nodes or more carry labels of both selections; `read` is a database's or a transaction's."""
    names = {"Person": selection.node_labels, "Robot": other.node_labels}
    return read("count_shared_nodes", names)[0]["shared"] == 2


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


def mend_record(transaction: Transaction, record: DamagedRecord, values: Row) -> None:
    """Replace the values of a damaged record that was read in this transaction."""
    kind = "release" if record.is_release else "budget"
    row = transaction.run(f"mend_{kind}", element=record.element, values=values)[0]
    if row["mended"] != 1:
        raise WriteMismatchError(f"{record.record} is no longer in the ledger.", sent=1, written=row["mended"])


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
        partial(share_nodes, read),
        lambda selection: 0 in db.count_store(selection),
    )
