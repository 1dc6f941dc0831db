"""The ledger in the database: totals that owners set, releases that were made, and noisy counts as a property."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from pcneo.model import Key, Selection
from pcneo.store.gateway import Gateway
from pcneo.store.transaction import Row, Transaction, sample_names

__all__ = ["BudgetRecord", "LedgerGateway", "ReleaseRecord", "create_budget", "create_release", "delete_ledger"]

T = TypeVar("T")

PROPERTY_BATCH = 10_000
"""Vertices a transaction of property values."""


@dataclass(frozen=True)
class BudgetRecord:
    """A total that was set: ε and δ as canonical fractions `a/b`, by whom and when."""

    graph: str
    epsilon: str
    delta: str
    who: str
    at: datetime


@dataclass(frozen=True)
class ReleaseRecord:
    """A release that was made; numbers of privacy as canonical fractions `a/b`, None where a mechanism has none."""

    id: str
    graph: str
    run: str | None
    mechanism: str
    k: int
    p: str | None
    score: str | None
    epsilon: str
    delta: str
    h: int | None
    membership_hash: str | None
    property: str | None
    property_hash: str | None
    who: str
    version: str
    at: datetime


class LedgerGateway(Gateway):
    """The statements of the ledger, beside those of every gateway."""

    def list_budgets(self) -> list[BudgetRecord]:
        """Return every total that was set, oldest first."""
        return [BudgetRecord(**{**row, "at": row["at"].to_native()}) for row in self._read("list_budgets")]

    def list_releases(self) -> list[ReleaseRecord]:
        """Return every release that was recorded, oldest first."""
        return [
            ReleaseRecord(
                **{name: row[name] for name in row.keys() - {"membershipHash", "propertyHash", "at"}},
                membership_hash=row["membershipHash"],
                property_hash=row["propertyHash"],
                at=row["at"].to_native(),
            )
            for row in self._read("list_releases")
        ]

    def property_values(self, selection: Selection, name: str) -> dict[Key, object]:
        """Return the values that a property of the chosen vertices has, by key."""
        names = {"id": selection.key, "noisy": name}
        rows = [
            row
            for label in selection.node_labels
            for row in self._read("list_property_values", {"Page": label, **names})
        ]
        return {row["key"]: row["value"] for row in rows}

    def set_property(self, selection: Selection, name: str, counts: Mapping[Key, int]) -> int:
        """Write noisy counts as a property of the vertices; return how many got one."""
        rows = [{"vertex": key, "count": count} for key, count in counts.items()]
        names = {**sample_names(selection, "Person", "id"), "noisy": name}
        return sum(self._write("set_property", names, rows=part)[0]["written"] for part in _parts(rows))

    def note_property(self, release: str, name: str, digest: str) -> None:
        """Note which property holds a release's noisy counts, with the hash of keys and values."""
        self._write("note_property", release=release, property=name, hash=digest)

    def remove_property(self, selection: Selection, name: str, keys: Sequence[Key]) -> int:
        """Remove a property of ours from some vertices; return how many were found."""
        names = {**sample_names(selection, "Person", "id"), "noisy": name}
        return sum(self._write("remove_property", names, keys=part)[0]["removed"] for part in _parts(keys))


def create_budget(transaction: Transaction, graph: str, epsilon: str, delta: str, who: str) -> None:
    """Record a total under the graph's lock."""
    transaction.run("create_budget", graph=graph, epsilon=epsilon, delta=delta, who=who)


def create_release(transaction: Transaction, values: Row) -> None:
    """Record a spend under the graph's lock; `values` are the statement's parameters."""
    transaction.run("create_release", **values)


def delete_ledger(transaction: Transaction, graph: str) -> int:
    """Forget the totals and releases of one graph under its lock; return the records deleted."""
    return transaction.run("delete_ledger", graph=graph)[0]["forgotten"]


def _parts(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), PROPERTY_BATCH):
        yield items[start : start + PROPERTY_BATCH]
