"""The ledger in the database: totals set by owners, releases made, and noisy counts as a property."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TypeVar

from pcneo.basics.model import Key
from pcneo.basics.selection import Selection
from pcneo.errors import WriteMismatchError
from pcneo.store.gateway import Gateway, GraphRecord, graph_records
from pcneo.store.transaction import Row, Transaction, sample_names

__all__ = [
    "BudgetRecord",
    "LedgerGateway",
    "LedgerRecords",
    "PropertyWriter",
    "ReleaseRecord",
    "ShareNodes",
    "create_budget",
    "create_release",
    "delete_ledger",
    "read_ledger",
]

T = TypeVar("T")
ShareNodes = Callable[[Selection, Selection], bool]


_RENAMED = {
    "runVersion": "run_version",
    "epsilonOne": "epsilon_1",
    "membershipHash": "membership_hash",
    "propertyHash": "property_hash",
    "keysHash": "keys_hash",
    "answersHash": "answers_hash",
}
_CONVERTED = {"at", "nodeLabels", "relationshipTypes"}

PROPERTY_BATCH = 10_000
"""Vertices per statement that writes property values; all statements share one transaction."""


@dataclass(frozen=True)
class BudgetRecord:
    """A total of a graph: ε and δ as canonical fractions `a/b`, and who set it when."""

    graph: str
    epsilon: str
    delta: str
    who: str
    at: datetime


@dataclass(frozen=True)
class ReleaseRecord:
    """A release that was made; ε, ε1 and δ as canonical fractions `a/b`, None where a mechanism has none.

    Labels and types are those of its graph, None in releases of pcneo 0.2.0 and before. `answers` is the release whose
    answers it is computed from, itself where it drew them; what follows is of answers that it drew
    (DATA-MODEL.md#the-ledger).
    """

    id: str
    graph: str
    run: str | None
    run_version: int | None
    mechanism: str
    k: int
    p: str | None
    search: str | None
    epsilon: str
    epsilon_1: str | None
    delta: str
    h: int | None
    membership_hash: str | None
    property: str | None
    property_hash: str | None
    who: str
    version: str
    at: datetime
    node_labels: tuple[str, ...] | None = None
    relationship_types: tuple[str, ...] | None = None
    answers: str | None = None
    threshold: int | None = None
    vertices: int | None = None
    keys_hash: str | None = None
    fingerprint: str | None = None
    answers_hash: str | None = None


@dataclass(frozen=True)
class LedgerRecords:
    """The whole ledger: each graph's totals and all releases, oldest first, and the graphs that pcneo knows.

    `share_nodes` asks the database that the ledger lies in whether two nodes or more carry labels of both selections.
    """

    graphs: tuple[GraphRecord, ...]
    budgets: tuple[BudgetRecord, ...]
    releases: tuple[ReleaseRecord, ...]
    share_nodes: ShareNodes = field(default=lambda _selection, _other: False, repr=False, compare=False)

    @property
    def lost(self) -> tuple[ReleaseRecord, ...]:
        """The releases whose graph's node is gone from the database."""
        known = {graph.name for graph in self.graphs}
        return tuple(release for release in self.releases if release.graph not in known)


class LedgerGateway(Gateway):
    """The statements of the ledger, beside those of every gateway."""

    def list_ledger(self) -> LedgerRecords:
        """Return the ledger for display; to decide on a release, use `read_ledger` under the graph's lock."""
        return _records(self._read)

    def versions_relied_on(self, run: str) -> set[int]:
        """Return the versions of a run that releases rest on."""
        versions = {release.run_version for release in self.list_ledger().releases if release.run == run}
        return {version for version in versions if version is not None}

    def share_nodes(self, selection: Selection, other: Selection) -> bool:
        """Return whether two nodes or more carry labels of both selections."""
        return _share_nodes(self._read, selection, other)

    def list_property_values(self, selection: Selection, name: str) -> list[tuple[Key, object]]:
        """Return (key, value) of every chosen vertex that has the property."""
        return _values(self._read, selection, name)

    def note_answers(self, release: str, digest: str) -> None:
        """Record the hash of a release's answers.

        Raises:
            WriteMismatchError: the release is no longer in the ledger.
        """
        row = self._write("note_answers", release=release, hash=digest)[0]
        if row["noted"] != 1:
            raise WriteMismatchError(
                f"Release {release} is no longer in the ledger, so its answers could not be found again.",
                sent=1,
                written=row["noted"],
            )

    @contextmanager
    def property_writer(self, selection: Selection, name: str) -> Iterator[PropertyWriter]:
        """Open a transaction for a property; it is committed at the end of the block, or rolled back on an error."""
        with self.transaction({}) as transaction:
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
        """Record on a release that the property holds its noisy counts, with the hash of keys and values.

        Args:
            release: the release's identifier.
            digest: the hash of keys and values.

        Raises:
            WriteMismatchError: the release is no longer in the ledger.
        """
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
        """Set the property of every vertex to its noisy count.

        Args:
            counts: the noisy count of every vertex, by key.

        Raises:
            WriteMismatchError: since the graph was read, vertices are gone or keys repeated.
        """
        rows = [{"vertex": key, "count": count} for key, count in counts.items()]
        written = sum(
            self._transaction.run("set_property", self._names, rows=part)[0]["written"] for part in _parts(rows)
        )
        if written != len(rows):
            raise WriteMismatchError(
                f"Of {len(rows):,} vertices {written:,} were found again: the graph has changed since it was read.",
                sent=len(rows),
                written=written,
            )

    def remove_property(self, keys: Sequence[Key]) -> None:
        """Remove the property from some vertices."""
        for part in _parts(keys):
            self._transaction.run("remove_property", self._names, keys=part)


def read_ledger(transaction: Transaction) -> LedgerRecords:
    """Return the ledger, read in the transaction that holds the graph's lock, so that nobody changes it meanwhile."""
    return _records(transaction.run)


def create_budget(transaction: Transaction, graph: str, epsilon: str, delta: str, who: str) -> None:
    """Record a total under the graph's lock."""
    transaction.run("create_budget", graph=graph, epsilon=epsilon, delta=delta, who=who)


def create_release(transaction: Transaction, values: Row) -> None:
    """Record a spend under the graph's lock; `values` are the statement's parameters."""
    transaction.run("create_release", **values)


def delete_ledger(transaction: Transaction, graph: str) -> int:
    """Forget the totals and releases of one graph under its lock; return the records deleted."""
    return transaction.run("delete_ledger", graph=graph)[0]["forgotten"]


def _records(read: Callable[..., list[Row]]) -> LedgerRecords:
    return LedgerRecords(
        tuple(graph_records(read("list_graphs"))),
        tuple(BudgetRecord(**{**row, "at": row["at"].to_native()}) for row in read("list_budgets")),
        tuple(
            ReleaseRecord(
                **{name: row[name] for name in row.keys() - _RENAMED.keys() - _CONVERTED},
                **{ours: row[name] for name, ours in _RENAMED.items()},
                at=row["at"].to_native(),
                node_labels=None if row["nodeLabels"] is None else tuple(row["nodeLabels"]),
                relationship_types=None if row["relationshipTypes"] is None else tuple(row["relationshipTypes"]),
            )
            for row in read("list_releases")
        ),
        partial(_share_nodes, read),
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
